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
const told = z.union([text, z.object({ message: text }).transform(({ message }) => message), problems]);
const body = z.union([
  z.object({ error: told }).transform(({ error }) => error),
  z.object({ message: text }).transform(({ message }) => message),
  z.object({ detail: told }).transform(({ detail }) => detail),
  z.object({ error_description: text }).transform(({ error_description }) => error_description),
  z.object({ errors: z.array(told).min(1) }).transform(({ errors }) => errors.join('; ')),
]);

/** The reason in the body of an error response that the provider package cannot read; null for a web page or nothing. */
export function reasonIn(response: string): string | null {
  const trimmed = response.trim();
  if (trimmed === '' || trimmed.startsWith('<')) return null;
  try {
    return body.safeParse(JSON.parse(trimmed)).data ?? null;
  } catch {
    return trimmed.startsWith('{') ? null : trimmed;
  }
}
