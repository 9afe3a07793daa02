import { cleanText } from '../../../src/adapter-kit.ts';

interface Hosts {
  /** Of the platform itself, only over HTTPS. */
  readonly own: readonly string[];
  /** Of a server in its place, with its port; empty for none. */
  readonly extra: string;
}

/** Whether the bot may request a file there: messages can contain any address. */
export function isTrusted(address: string, { own, extra }: Hosts): boolean {
  if (!URL.canParse(address)) return false;
  const { host, protocol } = new URL(address);
  return (extra !== '' && host === extra) || (protocol === 'https:' && own.includes(host));
}

/** The largest answer of a platform's API that is read: many times more than a full page of its largest messages. */
export const MAX_ANSWER_BYTES = 64_000_000;

/** Null if there are more bytes, whatever was announced. */
export async function readAtMost(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const TEXT_ENDINGS =
  /\.(?:txt|md|csv|tsv|log|json|ya?ml|toml|xml|html?|css|[cm]?[jt]sx?|py|rb|rs|go|java|kt|c|h|cpp|cs|sh|sql|ini|diff|patch)$/i;

/** Whether a file with this name is text, whatever type is declared. */
export function hasTextEnding(name: string): boolean {
  return TEXT_ENDINGS.test(name);
}

/** Null if the bytes are not text. */
export function decodeText(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
  try {
    return cleanText(new TextDecoder('utf-8', { fatal: true }).decode(bytes)).trim();
  } catch {
    return null;
  }
}
