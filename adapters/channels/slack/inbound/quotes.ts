import type { ChannelSink, QuotedMessage } from '../../../../src/adapter-kit.ts';
import type { ChannelIds } from '../places/channel-ids.ts';
import { conversationsOf, timeOf } from '../places/place.ts';
import { filled } from '../text.ts';
import type { WireMessage } from '../wire.ts';

export interface QuoteOptions {
  readonly workspace: { readonly teamId: string };
  readonly sink: Pick<ChannelSink, 'conversations'>;
  readonly channelIds: Pick<ChannelIds, 'all'>;
}

type Attachment = NonNullable<WireMessage['attachments']>[number];

/** The message with what it shares, as stored here. A quotation must not bring back what was forgotten. */
export async function withKeptQuotes<Message extends WireMessage>(
  options: QuoteOptions,
  message: Message,
  quotedIn: QuotedMessage['quotedIn'],
): Promise<Message> {
  if (!message.attachments?.some(({ ts }) => Boolean(ts))) return message;
  const attachments = await Promise.all(message.attachments.map((one) => asKept(options, one, quotedIn)));
  return { ...message, attachments: attachments.filter((attachment) => attachment !== null) };
}

async function asKept(
  options: QuoteOptions,
  attachment: Attachment,
  quotedIn: QuotedMessage['quotedIn'],
): Promise<Attachment | null> {
  const { channel_id: channelId, ts, from_url: url } = attachment;
  if (!channelId || !ts) return attachment;
  const shown = shownBy(attachment);
  const text = await keptText(options, { channelId, ts, threadTs: threadIn(url) }, { quotedIn, shown });
  if (text === null) return attachment;
  const bare = { pretext: null, title: null, fallback: null, fields: null, blocks: null };
  return text === '' ? null : { ...attachment, ...bare, text };
}

/** Of files, the summary names only author and time. */
function shownBy({ pretext, title, text, fallback, fields, blocks, files }: Attachment): string {
  const said = filled(
    [pretext, title, text, ...[fields, blocks].map((all) => all && JSON.stringify(all))].map((part) => part ?? ''),
  );
  return said.length === 0 && files?.length ? '' : [...said, fallback].join('\n');
}

/** Null if Slack's own text may be quoted; empty if the message was forgotten. */
export async function keptText(
  { sink, workspace, channelIds }: QuoteOptions,
  { channelId, ts, threadTs }: { readonly channelId: string; readonly ts: string; readonly threadTs: string | null },
  quotation: Pick<QuotedMessage, 'quotedIn' | 'shown'>,
): Promise<string | null> {
  const holders = { channelIds: await channelIds.all(channelId), ts, threadTs };
  const conversations = conversationsOf(workspace.teamId, holders);
  return await sink.conversations.textOf({ conversations, externalId: ts, at: timeOf(ts), ...quotation });
}

/** The URL of a reply names its thread. */
function threadIn(url: string | null | undefined): string | null {
  return url && URL.canParse(url) ? new URL(url).searchParams.get('thread_ts') : null;
}
