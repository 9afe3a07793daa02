import { StrataError } from './errors.ts';
import type { ConversationKey } from './message.ts';

/** The parts of a key of a conversation. */
export interface KeyParts {
  readonly platform: string;
  readonly workspace: string;
  readonly channel: string;
  readonly thread: string | null;
  /** Not everyone who can read the channel can read this thread, so it is a place of its own. */
  readonly isClosed: boolean;
}

/** Marks a private thread; at the start of any other part, this character is encoded. */
const CLOSED = '~';

/** What a caller without types may pass as `undefined`. */
const NO_PARTS: NewKey = { platform: '', workspace: '', channel: '' };

type NewKey = Omit<KeyParts, 'thread' | 'isClosed'> & Partial<Pick<KeyParts, 'thread' | 'isClosed'>>;

/**
 * The only function that builds keys: parts joined by colons, with colons and percent signs inside them encoded.
 *
 * @example
 * makeKey({ platform: 'discord', workspace: '811', channel: '822', thread: '833' }); // discord:811:822:833
 */
export function makeKey(given: NewKey): ConversationKey {
  const { platform, workspace, channel, thread, isClosed = false } = given ?? NO_PARTS;
  const parts = [platform, workspace, channel, ...(thread ? [thread] : [])];
  // The compiler tells only programs in TypeScript.
  if (parts.some((part) => typeof part !== 'string')) throw new StrataError('KEY_INVALID', { key: parts.join(':') });
  const inThread = thread ? [`${isClosed ? CLOSED : ''}${encode(thread)}`] : [];
  return parseKey([...[platform, workspace, channel].map(encode), ...inThread].join(':')).key;
}

/**
 * The only function that parses keys. Throws `KEY_INVALID`.
 *
 * @example
 * const { platform, channel } = parseKey('discord:811:822');
 */
export function parseKey(text: string): KeyParts & { readonly key: ConversationKey } {
  // The compiler tells only programs in TypeScript.
  if (typeof text !== 'string') throw new StrataError('KEY_INVALID', { key: typeof text });
  const [platform, workspace, channel, thread, ...rest] = text.split(':');
  if (!platform || !workspace || !channel || thread === '' || thread === CLOSED || rest.length > 0 || !isClean(text)) {
    throw new StrataError('KEY_INVALID', { key: text });
  }
  const isClosed = thread?.startsWith(CLOSED) ?? false;
  return {
    key: text as ConversationKey,
    platform: decode(platform),
    workspace: decode(workspace),
    channel: decode(channel),
    thread: thread === undefined ? null : decode(isClosed ? thread.slice(CLOSED.length) : thread),
    isClosed,
  };
}

/** The conversation of a person at the terminal, unless they choose another one. */
export const TERMINAL_HOME = makeKey({ platform: 'terminal', workspace: 'local', channel: 'main' });

/** The key without its thread, unless the thread is private. Audience and memories belong to this place. */
export function placeOf(key: ConversationKey): string {
  return key.split(':')[3]?.startsWith(CLOSED) ? rootOf(key) : channelOf(key);
}

/**
 * The key of a child conversation: a fifth part after the parent's key, in which the ids of nested children are joined by
 * dots. `parseKey` refuses it, because a child is not a place on a platform.
 */
export function makeChildKey(parent: ConversationKey, id: string): ConversationKey {
  return `${childPrefixOf(parent)}${id}` as ConversationKey;
}

/** Keys of the children of a conversation, and of theirs: at least `from`, and below `to`. */
export function childRangeOf(parent: ConversationKey): { readonly from: string; readonly to: string } {
  const from = childPrefixOf(parent);
  const end = from.charCodeAt(from.length - 1) + 1;
  return { from, to: from.slice(0, -1) + String.fromCharCode(end) };
}

/** How many tools have opened one conversation inside the other: 0 for a conversation that people see. */
export function depthOf(key: ConversationKey): number {
  const child = key.split(':')[4];
  return child === undefined ? 0 : child.split('.').length;
}

/** The conversation that people see, for a child and for itself. */
export function rootOf(key: ConversationKey): ConversationKey {
  const parts = key.split(':');
  if (parts.length < 5) return key;
  return parts.slice(0, parts[3] === '' ? 3 : 4).join(':') as ConversationKey;
}

function childPrefixOf(parent: ConversationKey): string {
  const parts = parent.split(':').length;
  return `${parent}${parts === 3 ? '::' : parts === 4 ? ':' : '.'}`;
}

/** The key without its thread, private or not. */
export function channelOf(key: ConversationKey): string {
  return key.split(':').slice(0, 3).join(':');
}

/** The platform of a key, also of a child's. Turns call this often, so it does not parse the whole key. */
export function platformOf(key: ConversationKey): string {
  return decode(key.slice(0, key.indexOf(':')));
}

/** `platform:workspace`. */
export function workspaceOf(key: ConversationKey): string {
  return key.split(':').slice(0, 2).join(':');
}

function encode(part: string): string {
  return part.toWellFormed().replace(/^~|[%:\s\p{C}]/gu, encodeCharacter);
}

function encodeCharacter(character: string): string {
  return character === CLOSED ? '%7E' : encodeURIComponent(character);
}

/** Percent signs that encode no character stay unchanged. */
function decode(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function isClean(text: string): boolean {
  return text.length <= 512 && !/[\s\p{C}]/u.test(text);
}
