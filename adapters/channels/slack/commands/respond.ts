import { describe } from '../../../../src/adapter-kit.ts';
import { escapeText } from '../outbound/format.ts';
import type { PostRate } from '../outbound/post-rate.ts';
import type { BotServices } from '../services.ts';
import type { Workspace } from '../web/workspace.ts';
import type { ReplyMessage } from './render.ts';

/** Answers go to the response URL of the command, or without one to the place, as an ephemeral message. */
export interface Target {
  readonly responseUrl: string;
  readonly channelId: string;
  readonly threadTs: string | null;
  readonly userId: string;
}

export interface Responder {
  answer(
    target: Target,
    message: ReplyMessage,
    how: { readonly ephemeral: boolean; readonly replace: boolean },
  ): Promise<void>;
}

const TIME_LIMIT_MS = 8_000;

export function createResponder({
  workspace,
  fetch,
  rate,
  log,
}: {
  readonly rate: PostRate;
} & Pick<BotServices, 'workspace' | 'fetch' | 'log'>): Responder {
  const inTurn = (channel: string, work: () => Promise<unknown>) =>
    rate({ channel, signal: AbortSignal.timeout(TIME_LIMIT_MS) }, work);
  return {
    async answer(target, message, { ephemeral, replace }) {
      const { text, blocks } = message;
      const { responseUrl, channelId, threadTs, userId } = target;
      const thread = threadTs === null ? {} : { thread_ts: threadTs };
      const tell = async (said: object) => {
        const body = { channel: channelId, user: userId, ...said, ...thread };
        await inTurn(channelId, () => workspace.web.apiCall('chat.postEphemeral', body));
      };
      const note = () => tell({ text, blocks });
      if (responseUrl === '') await note();
      else {
        const kind = replace ? { replace_original: true } : { response_type: ephemeral ? 'ephemeral' : 'in_channel' };
        const body = { text, blocks, replace_original: replace, ...kind, ...thread };
        // It expires after half an hour or five answers, and with a message that was deleted.
        await send(fetch, responseUrl, body).catch(async (error: unknown) => {
          // Slack may show it still; people should not get it twice.
          if (isLate(error)) return log.warn('Slack did not confirm the answer to a command in time', { channelId });
          log.debug('The response URL of a command failed; its answer is posted', { cause: describe(error) });
          await note();
        });
      }
      for (const file of message.files) {
        await sendFile({ workspace, inTurn }, target, file).catch(async (error: unknown) => {
          log.warn('Slack did not accept a file of a command', { channelId, cause: describe(error) });
          await tell({ text: `Slack did not accept the file ${escapeText(file.name)} of this answer.` });
        });
      }
    },
  };
}

async function send(fetcher: typeof globalThis.fetch, url: string, body: object): Promise<void> {
  const response = await fetcher(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(TIME_LIMIT_MS),
  });
  if (!response.ok) throw new Error(`Slack rejected an answer: status ${response.status}`);
}

function isLate(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

const MAX_ALT_TEXT = 1000;

/** Ephemeral messages cannot contain files, so these come as a direct message. */
async function sendFile(
  {
    workspace: { web },
    inTurn,
  }: {
    readonly workspace: Workspace;
    readonly inTurn: (channel: string, work: () => Promise<unknown>) => Promise<unknown>;
  },
  { userId }: Target,
  file: ReplyMessage['files'][number],
): Promise<void> {
  const id = (await web.conversations.open({ users: userId })).channel?.id;
  if (id === undefined) throw new Error('Slack opened no direct message');
  const filename = file.name;
  const content =
    'base64' in file
      ? { file: Buffer.from(file.base64, 'base64'), alt_text: file.description.slice(0, MAX_ALT_TEXT).toWellFormed() }
      : { content: file.text };
  await inTurn(id, () => web.files.uploadV2({ channel_id: id, filename, ...content }));
}
