/** Options of Node.js for programs of the tests, which then import as fast as `bin/strata.js`. */
export const RELATIVE_IMPORTS: readonly string[] = [
  '--import',
  new URL('../../bin/relative-imports.js', import.meta.url).href,
];
