import type { AttachmentPart } from '../../../../src/adapter-kit.ts';
import { decodeText, isTrusted, readAtMost } from '../../shared/downloads.ts';
import type { WireFile } from '../wire.ts';

const TIME_LIMIT_MS = 5_000;
const HOSTS = ['files.slack.com', 'slack-files.com'];
const TEXT_ENDINGS =
  /\.(?:txt|md|csv|tsv|log|json|ya?ml|toml|xml|html?|css|[cm]?[jt]sx?|py|rb|rs|go|java|kt|c|h|cpp|cs|sh|sql|ini|diff|patch)$/i;

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

/** Images as bytes, because nobody else may fetch them; small text files as text; all others by name. */
export async function readFiles(files: readonly WireFile[], options: FileOptions): Promise<ReadFiles> {
  const read = await Promise.all(files.map((file) => readFile(file, options)));
  return {
    attachments: read.flatMap(({ attachment }) => attachment ?? []),
    texts: read.flatMap(({ text }) => text ?? []),
  };
}

/** For a file of another workspace, a message contains only the id; the rest has to be requested. */
export async function completeFiles(
  files: readonly WireFile[],
  ask: (id: string) => Promise<WireFile>,
): Promise<readonly WireFile[]> {
  const isBare = ({ file_access: access, mode }: WireFile) => access === 'check_file_info' || mode === 'file_access';
  return await Promise.all(files.map(async (file) => (isBare(file) ? await ask(file.id).catch(() => file) : file)));
}

interface ReadFile {
  readonly attachment?: AttachmentPart;
  readonly text?: string;
}

async function readFile(file: WireFile, options: FileOptions): Promise<ReadFile> {
  const name = file.name || file.title || file.id;
  const mediaType = file.mimetype?.toLowerCase() || 'application/octet-stream';
  const sizeBytes = file.size ?? 0;
  const isGone = file.mode === 'tombstone' || file.mode === 'hidden_by_limit';
  if (isGone) return { text: `[file no longer there: ${name}]` };
  if (mediaType.startsWith('image/')) return await readImage(file, { name, options });
  if (isText(mediaType, name) && sizeBytes > 0 && sizeBytes <= options.textBytes) {
    const bytes = await download(file, options, options.textBytes);
    const text = bytes === null ? null : decodeText(bytes);
    if (text !== null) return { text: `[file ${name}]\n${text}` };
  }
  return { attachment: { kind: 'attachment', name, mediaType, sizeBytes, reference: file.url_private ?? '' } };
}

async function readImage(
  file: WireFile,
  { name, options }: { readonly name: string; readonly options: FileOptions },
): Promise<ReadFile> {
  const announced = file.size ?? 0;
  const bytes = announced > options.imageBytes ? null : await download(file, options, options.imageBytes);
  const mediaType = bytes === null ? null : sniff(bytes);
  if (bytes === null || mediaType === null) {
    return { text: `[image not shown, ${(announced / 1_000_000).toFixed(1)} MB: ${name}]` };
  }
  const reference = `data:${mediaType};base64,${bytes.toString('base64')}`;
  return { attachment: { kind: 'attachment', name, mediaType, sizeBytes: bytes.length, reference } };
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
  return mediaType.startsWith('text/') || TEXT_ENDINGS.test(name);
}

/** Null if it is unavailable or larger than allowed. */
async function download(file: WireFile, options: FileOptions, maxBytes: number): Promise<Buffer | null> {
  const address = file.url_private_download ?? file.url_private ?? '';
  if (!isTrusted(address, { own: HOSTS, extra: options.extraHost })) return null;
  try {
    const signal = AbortSignal.timeout(TIME_LIMIT_MS);
    const headers = { authorization: `Bearer ${options.token}` };
    const response = await options.fetch(new URL(address), { signal, redirect: 'error', headers });
    if (!response.ok || response.body === null || isOtherPage(response, file)) return null;
    return await readAtMost(response.body, maxBytes);
  } catch {
    return null;
  }
}

/** Without the right to read files, Slack answers with its sign-in page. */
function isOtherPage({ headers }: Response, { mimetype }: WireFile): boolean {
  const isPage = headers.get('content-type')?.startsWith('text/html') === true;
  return isPage && mimetype?.toLowerCase() !== 'text/html';
}
