import { z } from 'zod';

/** The JSON of `/rerank` and `/embeddings`, as most servers speak it. */

const ranking = z.object({
  results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })),
});
const embeddings = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1) })),
});

export interface RankedTexts {
  readonly model: string;
  readonly question: string;
  readonly texts: readonly string[];
}

export function toRerankBody({ model, question, texts }: RankedTexts) {
  return { model, query: question, documents: texts, top_n: texts.length };
}

export function toEmbeddingsBody({ model, texts }: Omit<RankedTexts, 'question'>) {
  return { model, input: texts, encoding_format: 'float' };
}

/** In the order of the texts. A text without a score answers worst. Throws if no text has one. */
export function readScores(body: unknown, texts: number): readonly number[] {
  const { results } = ranking.parse(body);
  if (results.length === 0) throw new Error('The server ranked no text');
  const scores = new Map(results.map(({ index, relevance_score }) => [index, relevance_score]));
  return Array.from({ length: texts }, (_, index) => scores.get(index) ?? Number.NEGATIVE_INFINITY);
}

/** In the order of the texts. Throws if one has no vector. */
export function readVectors(body: unknown, texts: number): readonly (readonly number[])[] {
  const { data } = embeddings.parse(body);
  const vectors = new Map(data.map(({ index, embedding }) => [index, embedding]));
  return Array.from({ length: texts }, (_, index) => {
    const vector = vectors.get(index);
    if (vector === undefined) throw new Error(`The server sent no vector for text ${index + 1} of ${texts}`);
    return vector;
  });
}
