import type { MemoryKind } from '../../../../src/adapter-kit.ts';

/** A pattern for one kind of statement, and the sentence to store. */
export interface Rule {
  readonly kind: MemoryKind;
  readonly importance: number;
  readonly pattern: RegExp;
  /** The person it is about: the speaker, the person named in the first group, or nobody. */
  readonly about: 'speaker' | 'first-group' | 'nobody';
  /** How the sentence ends. */
  readonly stop: '.' | '。';
  /** Null if the words match but the meaning does not. */
  say(match: RegExpExecArray, speaker: RuleSpeaker): string | null;
}

/** `calling` is the name on the platform, which an introduction changes; the others are how they want to be called. */
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
