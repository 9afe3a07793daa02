/** What the model says, in one language. Lists are picked from by the words that are answered: varied, yet always the same. */
export interface Voice {
  readonly greetings: readonly string[];
  readonly thanks: readonly string[];
  readonly farewells: readonly string[];
  readonly wellbeing: readonly string[];
  readonly fillers: readonly string[];
  /** After something was stated. `said` is it, in the second person. */
  readonly noted: readonly ((said: string) => string)[];
  readonly promised: readonly ((said: string) => string)[];
  readonly decided: readonly ((said: string) => string)[];
  readonly reminded: readonly ((said: string) => string)[];
  readonly heard: readonly string[];
  readonly unknown: readonly string[];
  readonly introduction: string;
  readonly abilities: string;
  welcome(name: string): string;
  fromMemory(text: string, when: string): string;
  fromSummary(text: string, range: string): string;
  fromInstruction(text: string, author: string): string;
  fromMessage(
    text: string,
    said: { readonly author: string; readonly when: string; readonly byAsker: boolean },
  ): string;
  fromSelf(text: string): string;
  fromTool(text: string): string;
  also(text: string): string;
  nothingFound(searched: 'view' | 'all'): string;
  toolGave(tool: string, text: string): string;
  toolFailed(tool: string, text: string): string;
  saved(text: string): string;
  notSaved(reason: string): string;
  timeIs(now: string): string;
  nameIs(name: string): string;
  knownAbout(items: readonly string[]): string;
  talkedAbout(items: readonly string[]): string;
}
