import { z } from 'zod';
import type { Entry } from '../../domain/message.ts';
import { MEMORY_KINDS, type MemoryWrite } from '../../ports/memory-store.ts';
import { DEFAULT_IMPORTANCE } from '../statements/lifecycle.ts';

export const MIN_CANDIDATES = 12;
const MESSAGES_PER_CANDIDATE = 2;
export const MAX_STATEMENT = 500;

/** Maximum number of new statements per extraction: one for every second message of people, but at least twelve. */
export function maxCandidates(entries: readonly Pick<Entry, 'role'>[]): number {
  const messages = entries.filter(({ role }) => role === 'user').length;
  return Math.max(MIN_CANDIDATES, Math.ceil(messages / MESSAGES_PER_CANDIDATE));
}

/** Known statements do not count, so repeating them cannot crowd out new ones. */
export function isOneTooMany(
  entries: readonly Pick<Entry, 'role'>[],
  writes: readonly MemoryWrite[],
  next: MemoryWrite,
): boolean {
  const added = writes.filter((write) => write.kind !== 'corroborate').length;
  return next.kind !== 'corroborate' && added >= maxCandidates(entries);
}

/** More proposals than this for each new statement are not looked at: a text may tell a model to make thousands. */
const CONSIDERED_PER_CANDIDATE = 8;

/** Maximum number of proposals to look at. Many may be known already. */
export function maxConsidered(entries: readonly Pick<Entry, 'role'>[]): number {
  return CONSIDERED_PER_CANDIDATE * maxCandidates(entries);
}

/** One statement proposed by a model: the input of the tool `memory_save`, and an item of a JSON answer. */
export const candidateSchema = z.object({
  kind: z.enum(MEMORY_KINDS).describe('Sort of statement'),
  text: z.string().min(1).describe('One sentence that stands alone and names names'),
  sources: z.array(z.int().positive()).default([]).describe('Numbers after # of the messages that say it'),
  about: z.string().nullish().describe('Name of the person it is about'),
  importance: z.number().min(0).max(1).nullish().describe('0 is trivial, 1 must never be lost'),
  supersedes: z.string().nullish().describe('Id of a known memory that is no longer true because of this one'),
});
export type MemoryCandidate = z.infer<typeof candidateSchema>;

export function importanceOf({ kind, importance }: MemoryCandidate): number {
  return importance ?? DEFAULT_IMPORTANCE[kind];
}

/** The most important first. */
export function byImportance(candidates: readonly MemoryCandidate[]): readonly MemoryCandidate[] {
  return candidates.toSorted((a, b) => importanceOf(b) - importanceOf(a));
}
