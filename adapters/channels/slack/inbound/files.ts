import { type AttachmentPart, CHANNEL_LINK, type ImageBytes } from '../../../../src/adapter-kit.ts';
import { decodeText, hasTextEnding, isTrusted, readAtMost } from '../../shared/downloads.ts';
import type { WireFile, WireMessage } from '../wire.ts';

const TIME_LIMIT_MS = 5_000;
const HOSTS = ['files.slack.com', 'slack-files.com'];
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/jpg', 'image/gif', 'image/webp']);

export type Fetch = (
  url: URL,
  options: {
    readonly signal: AbortSignal;
    readonly redirect: 'error';
    readonly headers: Readonly<Record<string, string>>;
  },
) => Promise<Response>;

export interface FileOptions {
  readonly fetch: Fetch;
  /** Sent only to Slack's own servers. */
  readonly token: string;
  readonly imageBytes: number;
  readonly textBytes: number;
  /** Hosts of files besides Slack's own; empty for none. */
  readonly extraHost: string;
}

export interface ReadFiles {
  readonly attachments: readonly AttachmentPart[];
  readonly texts: readonly string[];
}

/** Images as links that only the bot may fetch; small text files as text; all others by name. */
export async function readFiles(files: readonly WireFile[], options: FileOptions): Promise<ReadFiles> {
  const read = await Promise.all(files.map((file) => readFile(file, options)));
  return {
    attachments: read.flatMap(({ attachment }) => attachment ?? []),
    texts: read.flatMap(({ text }) => text ?? []),
  };
}

const DELETED = 'tombstone';

/** How many files of a message were deleted. */
export function deletedFiles(message: Pick<WireMessage, 'files'> | null): number {
  return (message?.files ?? []).filter(({ mode }) => mode === DELETED).length;
}

/** For a file of another workspace, a message contains only the id; the rest has to be requested. */
export async function completeFiles(
  files: readonly WireFile[],
  ask: (id: string) => Promise<WireFile>,
): Promise<readonly WireFile[]> {
  const isBare = ({ file_access: access, mode }: WireFile) => access === 'check_file_info' || mode === 'file_access';
  return await Promise.all(files.map(async (file) => (isBare(file) ? await ask(file.id).catch(() => file) : file)));
}

/** The text with the names of the message's files that it does not contain. */
export function withFileNames(text: string, { files }: Pick<WireMessage, 'files'>): string {
  const names = (files ?? []).filter((file) => !isGone(file)).map(nameOf);
  const unnamed = names.filter((name) => !text.includes(name)).map((name) => `[file: ${name}]`);
  return [text, ...unnamed].filter((part) => part !== '').join('\n');
}

function isGone({ mode }: WireFile): boolean {
  return mode === DELETED || mode === 'hidden_by_limit';
}

function nameOf({ name, title, id }: WireFile): string {
  return name || title || id;
}

interface ReadFile {
  readonly attachment?: AttachmentPart;
  readonly text?: string;
}

async function readFile(file: WireFile, options: FileOptions): Promise<ReadFile> {
  const name = nameOf(file);
  const mediaType = file.mimetype?.toLowerCase() || 'application/octet-stream';
  const sizeBytes = file.size ?? 0;
  if (isGone(file)) return { text: `[file no longer there: ${name}]` };
  if (mediaType.startsWith('image/')) return imageOf(file, { name, options });
  if (isText(mediaType, name) && sizeBytes > 0 && sizeBytes <= options.textBytes) {
    const isPage = mediaType === 'text/html';
    const bytes = await download(linkOf(file), options, { maxBytes: options.textBytes, isPage });
    const text = bytes === null ? null : decodeText(bytes);
    if (text !== null) return { text: `[file ${name}]\n${text}` };
  }
  return { attachment: { kind: 'attachment', name, mediaType, sizeBytes, reference: file.url_private ?? '' } };
}

/** Only its link is stored: with its bytes, a few messages would fill the memory of every process that reads them. */
function imageOf(
  file: WireFile,
  { name, options }: { readonly name: string; readonly options: FileOptions },
): ReadFile {
  const sizeBytes = file.size ?? 0;
  const mediaType = file.mimetype?.toLowerCase() ?? '';
  const link = linkOf(file);
  if (!IMAGES.has(mediaType) || sizeBytes > options.imageBytes || !isOurs(link, options))
    return { text: `[image not shown, ${(sizeBytes / 1_000_000).toFixed(1)} MB: ${name}]` };
  return { attachment: { kind: 'attachment', name, mediaType, sizeBytes, reference: `${CHANNEL_LINK}${link}` } };
}

/** An image that a model is about to see; null if it is gone, too large, or none. */
export async function loadImage(link: string, options: FileOptions, signal: AbortSignal): Promise<ImageBytes | null> {
  const bytes = await download(link, options, { maxBytes: options.imageBytes, isPage: false, signal });
  const mediaType = bytes === null ? null : sniff(bytes);
  return bytes === null || mediaType === null ? null : { mediaType, base64: bytes.toString('base64') };
}

/** The type according to the bytes, whatever was declared. Null if no model reads it, as with a sign-in page. */
function sniff(bytes: Buffer): string | null {
  if (bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))) return 'image/png';
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return 'image/jpeg';
  const head = bytes.subarray(0, 12).toString('latin1');
  if (head.startsWith('GIF8')) return 'image/gif';
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : null;
}

function isText(mediaType: string, name: string): boolean {
  return mediaType.startsWith('text/') || hasTextEnding(name);
}

function linkOf(file: WireFile): string {
  return file.url_private_download ?? file.url_private ?? '';
}

function isOurs(link: string, { extraHost }: FileOptions): boolean {
  return isTrusted(link, { own: HOSTS, extra: extraHost });
}

interface Download {
  readonly maxBytes: number;
  /** A page is expected. */
  readonly isPage: boolean;
  readonly signal?: AbortSignal;
}

/** Null if it is unavailable or larger than allowed. */
async function download(link: string, options: FileOptions, { maxBytes, isPage, signal }: Download) {
  if (!isOurs(link, options)) return null;
  try {
    const limits = [AbortSignal.timeout(TIME_LIMIT_MS), ...(signal === undefined ? [] : [signal])];
    const headers = { authorization: `Bearer ${options.token}` };
    const how = { signal: AbortSignal.any(limits), redirect: 'error', headers } as const;
    const response = await options.fetch(new URL(link), how);
    if (!response.ok || response.body === null || (isHtml(response) && !isPage)) return null;
    return await readAtMost(response.body, maxBytes);
  } catch {
    return null;
  }
}

/** Without the right to read files, Slack answers with its sign-in page. */
function isHtml({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/html') === true;
}
