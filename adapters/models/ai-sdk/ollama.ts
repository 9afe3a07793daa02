import { z } from 'zod';

const refusal = z.object({ error: z.string() });

/**
 * Ollama writes an error that comes during an answer as a line of its own, which the provider package prints and passes
 * over: here such a line ends the stream with that error.
 */
export function withErrorLines(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.ok || response.body === null) return response;
    const body = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(refusingErrors())
      .pipeThrough(new TextEncoderStream());
    return new Response(body, { status: response.status, headers: response.headers });
  };
}

function refusingErrors(): TransformStream<string, string> {
  let rest = '';
  return new TransformStream({
    transform(text, controller) {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) pass(line, controller);
    },
    flush(controller) {
      if (rest !== '') pass(rest, controller);
    },
  });
}

function pass(line: string, controller: TransformStreamDefaultController<string>): void {
  const error = errorIn(line);
  if (error === null) controller.enqueue(`${line}\n`);
  else controller.error(new Error(error));
}

function errorIn(line: string): string | null {
  if (!line.startsWith('{"error"')) return null;
  try {
    return refusal.safeParse(JSON.parse(line)).data?.error ?? null;
  } catch {
    return null;
  }
}
