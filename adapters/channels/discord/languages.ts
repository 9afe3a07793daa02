import { builtInSpecs } from '../../../src/adapter-kit.ts';

/** The languages of descriptions that Discord supports. */
export const LANGUAGES = [
  ...[
    'bg',
    'cs',
    'da',
    'de',
    'el',
    'en-GB',
    'en-US',
    'es-419',
    'es-ES',
    'fi',
    'fr',
    'hi',
    'hr',
    'hu',
    'id',
    'it',
    'ja',
  ],
  ...['ko', 'lt', 'nl', 'no', 'pl', 'pt-BR', 'ro', 'ru', 'sv-SE', 'th', 'tr', 'uk', 'vi', 'zh-CN', 'zh-TW'],
];

/** `memory`, `memory list`, `memory list page`: every built-in command with a description. */
export function namesOfCommands(): ReadonlySet<string> {
  const names = builtInSpecs.flatMap(({ name, actions }) => [
    name,
    ...actions.flatMap((action) => {
      const path = action.name === '' ? name : `${name} ${action.name}`;
      return [path, ...action.options.map((option) => `${path} ${option.name}`)];
    }),
  ]);
  return new Set(names);
}
