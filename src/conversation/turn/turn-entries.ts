import { estimateParts } from '../../context/measure/tokens.ts';
import type { Part } from '../../domain/message.ts';
import type { NewPost, PostBody } from '../../ports/outbox-store.ts';
import type { TurnCommit } from '../../ports/store.ts';
import { cleanParts } from '../state/clean-parts.ts';
import type { TurnStep } from './loop/outcome.ts';

type TurnEntry = TurnCommit['entries'][number];

/** The entries of a turn: each round of calls with its results, then the final text. */
export function entriesOf(
  steps: readonly TurnStep[],
  last: { readonly role: 'assistant' | 'notice'; readonly text: string },
  at: number,
): readonly TurnEntry[] {
  const rounds = steps.flatMap((step) => [entry('assistant', callParts(step), at), entry('tool', step.results, at)]);
  return [...rounds, entry(last.role, [{ kind: 'text', text: last.text }], at)];
}

function entry(role: TurnEntry['role'], parts: readonly Part[], at: number): TurnEntry {
  const clean = cleanParts(parts);
  return { role, parts: clean, tokens: role === 'notice' ? 0 : estimateParts(clean), at };
}

function callParts(step: TurnStep): readonly Part[] {
  const text: readonly Part[] = step.text === '' ? [] : [{ kind: 'text', text: step.text }];
  return [...text, ...step.calls.map((call): Part => ({ kind: 'tool-call', ...call }))];
}

/**
 * The posts of a reply. The nonce consists of conversation, turn and chunk, so it is the same if the turn is posted
 * again.
 */
export function postsOf(
  bodies: readonly PostBody[],
  of: { readonly conversationId: number; readonly turn: number; readonly replyTo: string | null },
): readonly NewPost[] {
  return bodies.map((body, index) => ({
    nonce: `${of.conversationId.toString(36)}-${of.turn.toString(36)}-${index.toString(36)}`,
    chunk: index,
    body,
    replyTo: index === 0 ? of.replyTo : null,
  }));
}
