import { StrataError } from '../domain/errors.ts';
import type { Audience } from '../domain/message.ts';
import type { Requester } from '../memory/rights/permissions.ts';
import type { MemoryReader } from '../ports/memory-store.ts';

/**
 * What a viewer may see: figures only (`viewer`), also the text of channels (`moderator`), or everything (`operator`).
 */
export const VIEWER_ROLES = ['viewer', 'moderator', 'operator'] as const;
export type ViewerRole = (typeof VIEWER_ROLES)[number];

/** Who looks at the inspector. */
export interface Viewer {
  readonly name: string;
  readonly role: ViewerRole;
}

/**
 * Whether the viewer can read what was said in a place: viewers see figures only, moderators also the text of channels,
 * operators everything.
 */
export function mayRead({ role }: Viewer, audience: Audience): boolean {
  return role === 'operator' || (role === 'moderator' && audience !== 'dm');
}

/** Throws `COMMAND_FORBIDDEN`. */
export function assertMayRead(viewer: Viewer, audience: Audience, what: string): void {
  if (mayRead(viewer, audience)) return;
  const needs = audience === 'dm' ? 'operators' : 'moderators and operators';
  throw new StrataError('COMMAND_FORBIDDEN', { command: what, needs, prefix: '' });
}

/** Throws `COMMAND_FORBIDDEN`. */
export function assertOperator({ role }: Viewer, what: string): void {
  if (role === 'operator') return;
  throw new StrataError('COMMAND_FORBIDDEN', { command: what, needs: 'operators', prefix: '' });
}

/** The viewer as the person behind a change, with the name under which the history shows it. */
export function requesterOf({ name, role }: Viewer, reader: MemoryReader): Requester {
  const author = { id: `inspector:${name}`, name, kind: 'person' } as const;
  return { reader, author, rights: role === 'viewer' ? 'member' : role };
}
