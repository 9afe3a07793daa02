import type { ReplyCommand } from '../../../../src/adapter-kit.ts';
import { isServed } from '../places/access.ts';
import { keyOf } from '../places/place.ts';
import { isForeign, nameOf } from '../places/places.ts';
import type { BotServices } from '../services.ts';
import { prefixOf } from '../settings.ts';
import type { Buttons } from './buttons.ts';
import { actionsBlock, type SignButton, toMessage } from './render.ts';

export interface HomeOptions extends Pick<BotServices, 'workspace' | 'settings' | 'sink' | 'places'> {
  readonly buttons: Buttons;
}

export const LIST: ReplyCommand = { path: ['memory', 'list'], options: {} };

/** Commands that the App Home shows inline instead of in a dialog. */
export function isListing({ path: [name, sub], options }: ReplyCommand): boolean {
  return name === 'memory' && (sub === 'list' || (sub === 'search' && Boolean(options['query']?.trim())));
}

/** The App Home: the bot's memories with this person, to view, search, correct, forget and export. */
export interface Home {
  publish(userId: string, command?: ReplyCommand): Promise<void>;
}

export function createHome(options: HomeOptions): Home {
  const { workspace, settings, sink, places, buttons } = options;
  return {
    async publish(userId, command = LIST) {
      const { channel } = await workspace.web.conversations.open({ users: userId });
      const channelId = channel?.id ?? '';
      const user = await places.user(userId);
      const isOutsider = isForeign(user, { home: user?.team_id, own: workspace.teamId });
      if (channelId === '' || !isServed(settings, { channelId, userId, isOutsider })) return;
      const reply = await sink.command({
        conversation: keyOf({ teamId: workspace.teamId, channelId, threadTs: null }),
        audience: 'dm',
        author: { id: userId, name: nameOf(user) ?? userId, kind: 'person' },
        rights: settings.operators.includes(userId) ? 'operator' : 'member',
        ...command,
      });
      const sign: SignButton = (button) => buttons.write({ ...button, ownerId: userId });
      const { blocks } = toMessage(reply, { sign, specs: sink.commandSpecs, prefix: prefixOf(settings) });
      const tools = actionsBlock(TOOLS, sign);
      await workspace.web.apiCall('views.publish', {
        user_id: userId,
        view: { type: 'home', blocks: [INTRODUCTION, ...tools, { type: 'divider' }, ...blocks] },
      });
    },
  };
}

const INTRODUCTION = {
  type: 'section',
  text: {
    type: 'plain_text',
    text: 'What the bot remembers from your direct messages. Each line has a menu to view it, show its source, correct it or forget it.',
  },
};

const TOOLS = [
  { label: 'All', style: 'plain', kind: 'page', command: LIST },
  {
    label: 'About me, everywhere',
    style: 'plain',
    kind: 'page',
    command: { path: ['memory', 'list'], options: { about: 'me' } },
  },
  { label: 'Search', style: 'plain', kind: 'run', command: { path: ['memory', 'search'], options: {} } },
  { label: 'Remember something', style: 'plain', kind: 'run', command: { path: ['memory', 'remember'], options: {} } },
  { label: 'Take a copy', style: 'plain', kind: 'run', command: { path: ['memory', 'export'], options: {} } },
  {
    label: 'Forget everything about me',
    style: 'danger',
    kind: 'run',
    command: { path: ['memory', 'forget'], options: { id: 'me' } },
  },
] as const;
