import type { MetadataExtractor } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import { text } from './loose.ts';

/** The name under which the metadata of an answer contains the fields. No provider is called so. */
export const FIELDS = '$reasoning';

const detail = z.record(z.string(), z.json());
type Detail = z.infer<typeof detail>;
const delta = z.object({
  reasoning_content: text,
  reasoning: text,
  reasoning_details: z.array(detail).nullish().catch(null),
});
const chunk = z.object({ choices: z.array(z.object({ delta: delta.nullish() })) });

/** More is not worth keeping, and a server could send it for ever. */
const MAX_CHARACTERS = 1_000_000;

/**
 * The fields in which a server streams reasoning, and wants it back. Servers differ in their names, and the provider
 * package passes on only the text.
 */
export const reasoningFields: MetadataExtractor = {
  extractMetadata: async () => undefined,
  createStreamExtractor() {
    const texts = { reasoning_content: '', reasoning: '' };
    const details: Detail[] = [];
    let left = MAX_CHARACTERS;
    return {
      processChunk(given) {
        const found = chunk.safeParse(given).data?.choices[0]?.delta ?? {};
        const added = { reasoning_content: found.reasoning_content ?? '', reasoning: found.reasoning ?? '' };
        const more = found.reasoning_details ?? [];
        left -= added.reasoning_content.length + added.reasoning.length + JSON.stringify(more).length - '[]'.length;
        if (left < 0) return;
        texts.reasoning_content += added.reasoning_content;
        texts.reasoning += added.reasoning;
        for (const one of more) addDetail(details, one);
      },
      buildMetadata: () => (left < 0 ? undefined : named(texts, details)),
    };
  },
};

/** OpenRouter tells in its details all that is in the text. */
function named(texts: Readonly<Record<string, string>>, details: readonly Detail[]) {
  if (details.length > 0) return { [FIELDS]: { reasoning_details: [...details] } };
  const [first] = Object.entries(texts).filter(([, written]) => written !== '');
  return first === undefined ? undefined : { [FIELDS]: { [first[0]]: first[1] } };
}

/** A text comes in pieces, the last of which has its signature. What is encrypted comes whole. */
function addDetail(details: Detail[], given: Detail): void {
  const last = details.at(-1);
  const isMore = last?.['type'] === given['type'] && last?.['index'] === given['index'];
  if (last === undefined || !isMore || given['type'] === 'reasoning.encrypted') {
    details.push({ ...given });
    return;
  }
  for (const [name, value] of Object.entries(given)) {
    const known = last[name];
    const isText = name === 'text' || name === 'summary';
    if (isText && typeof known === 'string' && typeof value === 'string') last[name] = known + value;
    else if (value !== null) last[name] = value;
  }
}
