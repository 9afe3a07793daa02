import { nestsTooDeeply } from '../../../../src/adapter-kit.ts';

/** The value, or null for what is no JSON or nests too deeply to be read. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return nestsTooDeeply(value) ? null : value;
  } catch {
    return null;
  }
}
