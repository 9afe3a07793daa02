/// <reference types="handlebars" />

/** The whole of Handlebars in one file: a start loads it three times as fast as the forty files behind its main entry. */
declare module 'handlebars/dist/handlebars.min.js' {
  export = Handlebars;
}
