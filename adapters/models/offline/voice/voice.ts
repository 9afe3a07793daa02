/**
 * The model's sentences in one language. Variants are chosen by the words of the question: varied, but always the same
 * for the same words.
 */
export interface Voice {
  readonly greetings: readonly string[];
  readonly thanks: readonly string[];
  readonly farewells: readonly string[];
  readonly wellbeing: readonly string[];
  readonly fillers: readonly string[];
  /** After a statement. `said` is the statement in the second person. */
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
