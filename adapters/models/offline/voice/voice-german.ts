import type { Voice } from './voice.ts';

export const german: Voice = {
  greetings: ['Hallo!', 'Guten Tag!', 'Hallo, schön von dir zu lesen.'],
  thanks: ['Gern geschehen.', 'Immer gern.', 'Keine Ursache.'],
  farewells: ['Bis bald! Ich weiß das dann immer noch.', 'Tschüss, bis zum nächsten Mal.'],
  wellbeing: ['Danke, alles gut. Und bei dir?', 'Danke, mir geht es gut.'],
  fillers: ['In Ordnung.', 'Verstanden.', 'Gut.'],
  noted: [(said) => `Notiert: ${said}`, (said) => `Gut zu wissen: ${said}`, (said) => `Das merke ich mir: ${said}`],
  promised: [(said) => `Verstanden, ab jetzt gilt: ${said}`, (said) => `Daran halte ich mich: ${said}`],
  decided: [(said) => `Als beschlossen notiert: ${said}`],
  reminded: [(said) => `Als Aufgabe notiert. Von selbst erinnern kann ich nicht, frag mich danach: ${said}`],
  heard: ['Verstanden, erzähl weiter.', 'Danke, das habe ich gelesen.', 'Ich kann dir folgen.'],
  unknown: ['Ich bin nur das eingebaute Vorführmodell und kenne nichts außer diesem Gespräch.'],
  introduction:
    'Ich bin das eingebaute Vorführmodell. Denken kann ich nicht, aber mein Gedächtnis ist echt: Ich antworte aus dem, was hier gesagt wurde.',
  abilities:
    'Erzähl mir etwas („Ich mag Tee“, „Wir haben beschlossen, am Freitag zu liefern“) und frag später danach. /status zeigt, wie voll mein Fenster ist, /memory list, was ich mir gemerkt habe.',
  welcome: (name) => `Freut mich, ${name}.`,
  fromMemory: (text, when) =>
    `${text} Das weiß ich aus meinem Gedächtnis${when === '' ? '' : ` (notiert am ${when})`}.`,
  fromSummary: (text, range) =>
    `${text} Das steht in meiner Zusammenfassung der Nachrichten ${range.replace(' to ', ' bis ')}.`,
  fromInstruction: (text, author) => `Es gilt eine Anweisung${author === '' ? '' : ` von ${author}`}: ${text}`,
  fromMessage: (text, { author, when, byAsker }) =>
    `${byAsker ? 'Du hast' : `${author || 'Jemand'} hat`}${when === '' ? ' vorhin' : ` am ${when}`} geschrieben: „${text}“`,
  fromSelf: (text) => `Ich habe vorhin gesagt: „${text}“`,
  fromTool: (text) => `Ein Werkzeug hat mir gesagt: ${text}`,
  also: (text) => `Außerdem: ${text}`,
  nothingFound: (searched) =>
    searched === 'all'
      ? 'Ich habe alles durchgesehen, was hier gesagt wurde, und nichts dazu gefunden.'
      : 'Dazu sehe ich nichts, weder im Gespräch noch in Zusammenfassungen oder im Gedächtnis.',
  toolGave: (tool, text) => `${tool} ergibt: ${text}`,
  toolFailed: (tool, text) => `${tool} ging nicht: ${text}`,
  saved: (text) => `Gespeichert: ${text}`,
  notSaved: (reason) => `Das habe ich nicht gespeichert: ${reason}`,
  timeIs: (now) => `Es ist ${now}.`,
  nameIs: (name) => `Du bist ${name}.`,
  knownAbout: (items) => `Das weiß ich über dich:\n${items.map((item) => `- ${item}`).join('\n')}`,
  talkedAbout: (items) => `Bisher:\n${items.map((item) => `- ${item}`).join('\n')}`,
};
