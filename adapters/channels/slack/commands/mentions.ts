import type { Author, ReplyCommand } from '../../../../src/adapter-kit.ts';
import type { Places } from '../places/places.ts';
import { mentionedIds, readableTyped } from '../text.ts';

/** A typed command as people see it: ids in it are names. */
export interface TypedCommand {
  readonly command: ReplyCommand;
  readonly mentions: readonly Author[];
}

/** A mention reaches a command as an id, which would be remembered and looked for as it is. */
export async function readTyped(
  places: Pick<Places, 'namesFor'>,
  { path, options }: ReplyCommand,
  channelId: string,
): Promise<TypedCommand> {
  const text = Object.values(options).join(' ');
  const names = await places.namesFor({ text }, channelId);
  const named = Object.entries(options).map(([name, value]) => [name, readableTyped(value, names)] as const);
  const mentions = mentionedIds(text).map((id): Author => {
    return { id, name: names.user(id) ?? labelOf(text, id), kind: 'person' };
  });
  return { command: { path, options: Object.fromEntries(named) }, mentions };
}

/** What Slack shows of somebody whom it does not describe in time. */
function labelOf(text: string, id: string): string {
  const [, label] = text.slice(text.indexOf(`<@${id}`)).match(/^<@\w+\|([^<>\n]+)>/) ?? [];
  return label ?? id;
}
