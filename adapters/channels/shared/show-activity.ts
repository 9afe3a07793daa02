import type { Activity, ConversationKey } from '../../../src/adapter-kit.ts';
import type { WorkingSigns } from './working-signs.ts';

interface Signs {
  readonly typing: Pick<WorkingSigns, 'start' | 'stop'>;
  readonly drafts: {
    show(conversation: ConversationKey, text: string): void;
    drop(conversation: ConversationKey): void;
  };
}

/** What a channel does for `show`: a typing sign while the bot works, and its reply as a draft while it is written. */
export function showActivity({ typing, drafts }: Signs, conversation: ConversationKey, activity: Activity): void {
  if (activity.kind === 'working') typing.start(conversation);
  else if (activity.kind === 'draft') drafts.show(conversation, activity.text);
  else {
    typing.stop(conversation);
    drafts.drop(conversation);
  }
}
