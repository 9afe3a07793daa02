import { z } from 'zod';
import { withLines } from './response.ts';

const refusal = z.object({ error: z.string() });

/**
 * Ollama reports an error during an answer as a separate line, which the provider package prints and skips. Here, such
 * a line ends the stream with that error.
 */
export function withErrorLines(send: typeof fetch): typeof fetch {
  return withLines(send, (line) => {
    const error = errorIn(line);
    if (error !== null) throw new Error(error);
    return line;
  });
}

function errorIn(line: string): string | null {
  if (!line.startsWith('{"error"')) return null;
  try {
    return refusal.safeParse(JSON.parse(line)).data?.error ?? null;
  } catch {
    return null;
  }
}
