import { z } from 'zod';
import { describe, StrataError } from '../domain/errors.ts';
import type { Channel, ChannelSink } from '../ports/channel.ts';
import type { Log } from '../ports/log.ts';
import type { ChatModel, ModelProvider } from '../ports/model.ts';
import type { PostBody } from '../ports/outbox-store.ts';
import { faultsOf } from '../util/errors/faults.ts';
import { createErrorLog } from '../util/log/error-log.ts';
import { checkMessage } from './message-shape.ts';

/** Parts of the program, held to their contracts: a fault in one of them is reported, and does not end the process. */

/** A line that the log cannot write is lost, and nothing else. The first failure goes to standard error. */
export function guardedLog(log: Log, fallback: Log = createErrorLog()): Log {
  let isReported = false;
  const guarded = (level: keyof Log): Log[keyof Log] => {
    return (message, fields) => {
      try {
        log[level](message, fields);
      } catch (error) {
        if (!isReported) fallback.error('log.failed', { error: describe(error) });
        isReported = true;
      }
    };
  };
  return { debug: guarded('debug'), info: guarded('info'), warn: guarded('warn'), error: guarded('error') };
}

/** Opens only what can be used. */
export function guardedModels(models: ModelProvider): ModelProvider {
  return {
    async open(modelId) {
      const model = await models.open(modelId);
      refuse(modelShape, model, (problem) => ({ model: modelId, problem: `open returned no ChatModel (${problem})` }));
      return model;
    },
    async choose() {
      const choice = await models.choose();
      refuse(choiceShape, choice, (problem) => ({ model: 'auto', problem: `choose returned no model (${problem})` }));
      return choice;
    },
  };
}

const modelShape = z.object({
  id: z.string(),
  traits: z.object({ windowTokens: z.number().nullable(), tools: z.boolean(), images: z.boolean() }),
  stream: z.custom<ChatModel['stream']>((value) => typeof value === 'function', 'expected a function'),
});
const choiceShape = z.object({ modelId: z.string(), reason: z.string() });

function refuse(
  shape: z.ZodType,
  value: unknown,
  dataOf: (problem: string) => { readonly model: string; readonly problem: string },
): void {
  const faults = faultsOf(shape, value);
  if (faults.length > 0) throw new StrataError('MODEL_INVALID', dataOf(faults.join('; ')));
}

/** A channel cannot fail a turn, or repeat a post because it returns nothing. */
export function guardedChannel(channel: Channel, log: Log): Channel {
  const { platform } = channel;
  const report = (method: string, error: unknown) =>
    log.warn('channel.failed', { platform, method, error: describe(error) });
  return {
    platform,
    get traits() {
      return channel.traits;
    },
    start: (sink) => channel.start(ofPlatform(sink, platform)),
    split(text) {
      try {
        return bodiesOf(channel.split(text), text);
      } catch (error) {
        report('split', error);
        return [{ kind: 'text', text }];
      }
    },
    async post(post, options) {
      const posted: unknown = await channel.post(post, options);
      const known = receipt.safeParse(posted);
      if (known.success) return known.data;
      // It has been posted, so it must not be posted again.
      report('post', 'expected an object with platformMessageId');
      return { platformMessageId: post.nonce };
    },
    show(conversation, activity) {
      try {
        channel.show(conversation, activity);
      } catch (error) {
        report('show', error);
      }
    },
    linkTo: (message) => channel.linkTo(message),
    stop: () => channel.stop(),
  };
}

const receipt = z.object({ platformMessageId: z.string() });
const anyBodies = z.array(z.object({ kind: z.enum(['text', 'file']), text: z.string() }));
const someBodies = anyBodies.min(1);

function bodiesOf(bodies: readonly PostBody[], text: string): readonly PostBody[] {
  const shape = text.trim() === '' ? anyBodies : someBodies;
  if (!shape.safeParse(bodies).success) throw new Error("expected a list of { kind: 'text', text }");
  return bodies;
}

/** A conversation of another platform would never get its reply. */
function ofPlatform(sink: ChannelSink, platform: string): ChannelSink {
  return {
    ...sink,
    async message(message) {
      // The sink checks the rest of the message.
      if (String(message?.conversation).startsWith(`${platform}:`)) return await sink.message(message);
      checkMessage(message);
      const problem = `conversation: expected a key of the platform "${platform}", got "${message.conversation}"`;
      throw new StrataError('MESSAGE_INVALID', { problem });
    },
  };
}
