import { decodeText, isTrusted, readAtMost } from '../../shared/downloads.ts';
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

/** The message with the text of its small text files, and of those that it forwards. An unreadable one appears by name. */
export async function withFiles(message: WireMessage, options: FileOptions): Promise<WireMessage> {
  const [own, ...copies] = await Promise.all([
    opened(message, options),
    ...message.message_snapshots.map((snapshot) => opened(snapshot.message, options)),
  ]);
  return copies.length === 0 ? own : { ...own, message_snapshots: copies.map((copy) => ({ message: copy })) };
}

type Content = Pick<WireMessage, 'content' | 'attachments'>;

async function opened<Holder extends Content>(holder: Holder, options: FileOptions): Promise<Holder> {
  const read = await Promise.all(holder.attachments.map((attachment) => readFile(attachment, options)));
  const texts = holder.attachments.flatMap(({ filename }, index) => {
    const text = read[index];
    return typeof text === 'string' ? [`[file ${filename}]\n${text}`] : [];
  });
  if (texts.length === 0) return holder;
  return {
    ...holder,
    content: [holder.content, ...texts].filter((text) => text !== '').join('\n'),
    attachments: holder.attachments.filter((_, index) => typeof read[index] !== 'string'),
  };
}

async function readFile(attachment: WireAttachment, options: FileOptions): Promise<string | null> {
  if (!isReadable(attachment, options.textBytes)) return null;
  if (!isTrusted(attachment.url, { own: HOSTS, extra: options.extraHost })) return null;
  try {
    const signal = AbortSignal.timeout(TIME_LIMIT_MS);
    const response = await options.fetch(new URL(attachment.url), { signal, redirect: 'error' });
    if (!response.ok || response.body === null) return null;
    const bytes = await readAtMost(response.body, options.textBytes);
    return bytes === null ? null : decodeText(bytes);
  } catch {
    return null;
  }
}
