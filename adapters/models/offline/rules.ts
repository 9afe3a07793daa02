import type { MemoryKind } from '../../../src/adapter-kit.ts';

/** A pattern for one sort of statement, and the sentence to be kept of it. */
export interface Rule {
  readonly kind: MemoryKind;
  readonly importance: number;
  readonly pattern: RegExp;
  /** Whom it is about: who said it, whoever the first group names, or no person. */
  readonly about: 'speaker' | 'first-group' | 'nobody';
  /** How the sentence ends. */
  readonly stop: '.' | '。';
  /** Null when the words fit but the sense does not. */
  say(match: RegExpExecArray, speaker: RuleSpeaker): string | null;
}

/** `calling` is how the platform calls them, which an introduction changes; the others are how they want to be called. */
export interface RuleSpeaker {
  readonly name: string;
  readonly own: string;
  readonly calling: string;
}

type Say = Rule['say'];

export function createRule(
  pattern: RegExp,
  options: { readonly kind: MemoryKind; readonly importance: number; readonly about?: Rule['about'] },
  say: Say,
): Rule {
  return { pattern, about: 'speaker', stop: '.', ...options, say };
}
