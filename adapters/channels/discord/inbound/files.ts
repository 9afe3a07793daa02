import { cleanText } from '../../../../src/adapter-kit.ts';
import { isReadable } from '../attachment.ts';
import type { WireAttachment, WireMessage } from '../wire.ts';

const TIME_LIMIT_MS = 5_000;
const HOSTS = ['cdn.discordapp.com', 'media.discordapp.net'];

export type Fetch = (
  url: URL,
  options: { readonly signal: AbortSignal; readonly redirect: 'error' },
) => Promise<Response>;

export interface FileOptions {
  readonly fetch: Fetch;
  readonly textBytes: number;
  /** Hosts of files besides Discord's own; empty for none. */
  readonly extraHost: string;
}

/** The message with the text of its small text files. An unreadable file appears by name. */
export async function withFiles(message: WireMessage, options: FileOptions): Promise<WireMessage> {
  const read = await Promise.all(message.attachments.map((attachment) => readFile(attachment, options)));
  const texts = message.attachments.flatMap(({ filename }, index) => {
    const text = read[index];
    return typeof text === 'string' ? [`[file ${filename}]\n${text}`] : [];
  });
  if (texts.length === 0) return message;
  return {
    ...message,
    content: [message.content, ...texts].filter((text) => text !== '').join('\n'),
    attachments: message.attachments.filter((_, index) => typeof read[index] !== 'string'),
  };
}

async function readFile(attachment: WireAttachment, options: FileOptions): Promise<string | null> {
  if (!isReadable(attachment, options.textBytes) || !isTrusted(attachment.url, options.extraHost)) return null;
  try {
    const signal = AbortSignal.timeout(TIME_LIMIT_MS);
    const response = await options.fetch(new URL(attachment.url), { signal, redirect: 'error' });
    if (!response.ok || response.body === null) return null;
    return await readText(response.body, options.textBytes);
  } catch {
    return null;
  }
}

/** Null if it is larger than announced, or not text. */
async function readText(body: ReadableStream<Uint8Array>, mostBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > mostBytes) return null;
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(0)) return null;
  return cleanText(new TextDecoder('utf-8', { fatal: true }).decode(bytes)).trim();
}

function isTrusted(url: string, extraHost: string): boolean {
  if (!URL.canParse(url)) return false;
  const { host } = new URL(url);
  return HOSTS.includes(host) || (extraHost !== '' && host === extraHost);
}
