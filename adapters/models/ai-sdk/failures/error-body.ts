import { z } from 'zod';

const text = z.string().trim().min(1);
const place = z.array(z.union([z.string(), z.number()])).catch([]);
/** FastAPI's list of problems also quotes the input, which is left out. */
const problem = z
  .object({ loc: place, msg: text })
  .transform(({ loc, msg }) => (loc.length === 0 ? msg : `${loc.join('.')}: ${msg}`));
const problems = z
  .array(problem)
  .min(1)
  .transform((list) => list.join('; '));
const detailed = z.object({ detail: problems }).transform(({ detail }) => detail);
const told = z.union([text, z.object({ message: text }).transform(({ message }) => message), problems, detailed]);
/** OpenRouter repeats what the model's own server said, often as JSON. */
const wrapped = z
  .object({ error: z.object({ metadata: z.object({ raw: text }) }) })
  .transform(({ error }) => reasonIn(error.metadata.raw))
  .pipe(z.string());
const body = z.union([
  wrapped,
  z.object({ error: told }).transform(({ error }) => error),
  z.object({ message: z.union([text, detailed]) }).transform(({ message }) => message),
  z.object({ detail: told }).transform(({ detail }) => detail),
  z.object({ error_description: text }).transform(({ error_description }) => error_description),
  z.object({ errors: z.array(told).min(1) }).transform(({ errors }) => errors.join('; ')),
]);

/** The reason in the body of an error response that the provider package cannot read; null for a web page or nothing. */
export function reasonIn(response: string): string | null {
  const trimmed = response.trim();
  if (trimmed === '' || trimmed.startsWith('<')) return null;
  try {
    const value: unknown = JSON.parse(trimmed);
    // Gemini's compatible interface puts its errors into a list.
    return body.safeParse(Array.isArray(value) ? value[0] : value).data ?? null;
  } catch {
    return /^[{[]/.test(trimmed) ? null : trimmed;
  }
}
