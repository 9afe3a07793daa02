import { z } from 'zod';

/** Values in events of servers, some of which send them in another form. Unreadable ones become `null`. */

/** A number of tokens, also as a text. */
export const count = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ])
  .pipe(z.number().nonnegative())
  .nullish()
  .catch(null);

export const text = z.string().nullish().catch(null);

/** A number instead of a text. */
export const name = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(null);

/** What is neither stays as it is. */
export const words = z
  .unknown()
  .optional()
  .transform((given) => (typeof given === 'number' ? String(given) : given));
