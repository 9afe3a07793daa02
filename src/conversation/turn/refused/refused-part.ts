import { bookCall } from '../../../costs/usage.ts';
import { ModelError } from '../../../domain/errors.ts';
import { rootOf } from '../../../domain/key.ts';
import { billedUsage } from '../../../models/billed.ts';
import { type BilledStep, collectStep } from '../../../models/step.ts';
import type { ContextProfile } from '../../../ports/engine.ts';
import type { UsageRow } from '../../../ports/journal.ts';
import type { ChatModel, ModelRequest, ToolSpec } from '../../../ports/model.ts';
import type { SystemSection } from '../../../ports/sections.ts';
import type { Conversation } from '../../../ports/store.ts';
import type { Services } from '../../../services.ts';
import { limitWork } from '../../../util/async/limit.ts';

/** Finds the fixed part of every request that a provider's filter refuses. It is reported, and never left out. */
export interface RefusedParts {
  /**
   * Sends the model a harmless message. Null if the model accepts it, so that the newest message is the cause, or if
   * the call fails otherwise. Never rejects.
   */
  of(turn: RefusedTurn): Promise<string | null>;
}

export interface RefusedTurn {
  readonly profile: ContextProfile;
  readonly tools: readonly ToolSpec[];
  readonly conversation: Conversation;
}

interface Options {
  readonly services: Services;
  modelFor(profile: ContextProfile): Promise<ChatModel>;
  /** Aborted when the bot stops. */
  readonly signal: AbortSignal;
}

const LIMIT_MS = 60_000;
const MAX_OUTPUT_TOKENS = 16;

/** One for all conversations of a process. The fixed part of a profile is tested once. */
export function createRefusedParts(options: Options): RefusedParts {
  const known = new WeakMap<ContextProfile, Promise<string | null>>();
  return {
    async of(turn) {
      const { profile } = turn;
      const found = known.get(profile) ?? judged(options, turn);
      known.set(profile, found);
      return await found.catch(() => {
        known.delete(profile);
        return null;
      });
    },
  };
}

async function judged({ services, modelFor, signal }: Options, turn: RefusedTurn): Promise<string | null> {
  using limit = limitWork(signal, { ms: LIMIT_MS });
  const rows: UsageRow[] = [];
  const asking = { services, rows, turn, signal: limit.signal, model: await modelFor(turn.profile) };
  try {
    return await find(asking);
  } finally {
    await services.store.journal.addUsage(turn.conversation.id, rows);
  }
}

interface Asking {
  readonly services: Services;
  readonly rows: UsageRow[];
  readonly turn: RefusedTurn;
  readonly signal: AbortSignal;
  readonly model: ChatModel;
}

type Part = Pick<RefusedTurn, 'tools'> & { readonly sections: readonly Pick<SystemSection, 'text'>[] };

async function find(asking: Asking): Promise<string | null> {
  const { tools, profile } = asking.turn;
  const { sections } = profile;
  if (!(await isRefused(asking, { sections, tools }))) return null;
  const names: string[] = [];
  for (const section of sections) {
    if (await isRefused(asking, { sections: [section], tools: [] })) names.push(await nameOf(asking, section));
  }
  if (tools.length > 0 && (await isRefused(asking, { sections: [], tools }))) names.push('the descriptions of tools');
  return names.length === 0 ? 'the system prompt and the tools together' : names.join(' and ');
}

/** `persona (configuration)`; for standing instructions, the ids for `/memory show`. */
async function nameOf(asking: Asking, { key, source, lines = [], memoryIds = [] }: SystemSection): Promise<string> {
  const ids: string[] = [];
  for (const line of lines) {
    const id = memoryIds.find((one) => line.text.includes(one));
    if (id !== undefined && (await isRefused(asking, { sections: [line], tools: [] }))) ids.push(id);
  }
  return ids.length === 0 ? `${key} (${source})` : `the standing instruction ${ids.join(', ')}`;
}

/** Throws every other error of the model. */
async function isRefused({ services, rows, turn, signal, model }: Asking, { sections, tools }: Part): Promise<boolean> {
  const startedAt = services.clock.now();
  const request = requestOf(sections, model.traits.tools ? tools : []);
  const book = (step: BilledStep) => {
    const call = { purpose: request.purpose, model: model.id, agentId: turn.profile.agentId, person: null };
    const about = { conversation: rootOf(turn.conversation.key), durationMs: services.clock.now() - startedAt };
    rows.push(bookCall(services, { ...call, ...about, usage: billedUsage(request, step) }));
  };
  try {
    const step = await collectStep(model, request, { signal, onText: () => undefined, onLost: book });
    if (!signal.aborted) book(step);
    return step.finish === 'refused';
  } catch (error) {
    if (error instanceof ModelError && error.reason === 'refused') return true;
    throw error;
  }
}

function requestOf(sections: Part['sections'], tools: Part['tools']): ModelRequest {
  return {
    purpose: 'rerun',
    system: sections.map(({ text }) => ({ text, cacheBreak: false })),
    messages: [{ role: 'user', content: [{ kind: 'text', text: 'Hello.' }] }],
    tools,
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    json: false,
  };
}
