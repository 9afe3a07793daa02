import { firstWaiting } from '../../context/view/order.ts';
import { StrataError } from '../../domain/errors.ts';
import type { Author, MemoryId } from '../../domain/message.ts';
import type { NewBlob } from '../../ports/blob-store.ts';
import type { QuotedEntries } from '../../ports/sections.ts';
import type { Conversation } from '../../ports/store.ts';
import type { ToolContext } from '../../tools/define.ts';
import { createTurnBlobs, type TurnBlobs } from '../../tools/turn-blobs.ts';
import { type Given, standingOf } from '../state/turn-standing.ts';
import type { OpenedImages } from './images/opened-images.ts';
import type { ToolEffects } from './loop/effects.ts';
import { givenAtFirst, type PreparedTurn } from './prepare.ts';
import type { RefusedPast } from './refused/refused-past.ts';
import type { Opening, ReplyOptions } from './reply-options.ts';
import type { ParentCall, Spawner } from './spawner.ts';

/** Owns what the tools of a turn that runs have found. */
export interface ToolCalls {
  readonly effects: ToolEffects;
  findings(): ToolFindings;
}

export interface ToolFindings {
  readonly given: Given;
  /** Long results, to be stored with the turn. */
  readonly blobs: readonly NewBlob[];
}

interface Shared {
  readonly past: RefusedPast;
  readonly images: OpenedImages;
}

export function createToolCalls(options: ReplyOptions, turn: PreparedTurn, { past, images }: Shared): ToolCalls {
  const given = createGiven(turn);
  const blobs = createTurnBlobs(turn.child?.blobs);
  return {
    effects: {
      callTool: toolCaller(options, turn, { given, images, blobs }),
      withhold(results) {
        for (const { callId, blob } of results) {
          images.close(callId);
          if (blob !== null) blobs.drop(blob.id);
        }
        past.withheld();
      },
    },
    findings: () => ({ given: given.all(), blobs: blobs.all() }),
  };
}

/** What the tool calls of a turn fill. */
interface Filled {
  readonly given: ReturnType<typeof createGiven>;
  readonly images: OpenedImages;
  readonly blobs: TurnBlobs;
}

function toolCaller(
  options: ReplyOptions,
  turn: PreparedTurn,
  { given, images, blobs }: Filled,
): ToolEffects['callTool'] {
  const { profile } = turn.basis;
  const { claim, signal } = turn.leased;
  const budget = turn.child?.budget ?? { children: 0 };
  const nextKey = createCallKeys(turn);
  return async (call, offered) => {
    const callKey = nextKey(call.tool);
    const check = () => requireStanding(options, turn.leased, given.all());
    const { audience, key } = await check();
    const called = { audience, callKey, signal, blobs, onGiven: given.recall };
    const own = { ...toolContext(turn), ...called, ...images.listenerFor(call) };
    const context = turn.child?.contextOf(own) ?? own;
    const parent = { key, claim, profile, tool: call.tool, context, budget, check, onQuoted: given.quote };
    const spawn = spawnFor(options.children, parent);
    return options.tools.run(call, { ...context, spawn }, offered);
  };
}

/**
 * Numbers the calls of each tool. A turn that runs again may read more messages, and its model may call other tools in
 * between, so a key contains only the first message that waits for the answer.
 */
function createCallKeys({ leased: { snapshot, newest } }: PreparedTurn): (tool: string) => string {
  const { conversation } = snapshot;
  const first = Math.min(firstWaiting(conversation), newest.seq);
  const counts = new Map<string, number>();
  return (tool) => {
    const ordinal = (counts.get(tool) ?? 0) + 1;
    counts.set(tool, ordinal);
    return `${conversation.key}#t${first}.${tool}.${ordinal}`;
  };
}

/** Numbers the children of one call. */
function spawnFor(children: Spawner, call: Omit<ParentCall, 'ordinal'>): ToolContext['spawn'] {
  let ordinal = 0;
  return (task) => {
    ordinal += 1;
    return children.spawn({ ...call, ordinal }, task);
  };
}

/** What the turn was given: by its sections, and by its tools and their children. */
function createGiven(turn: PreparedTurn) {
  const first = givenAtFirst(turn);
  const recalled = new Set<MemoryId>();
  const quoted = [...first.quotes];
  const all = (): Given => ({ memoryIds: [...first.memoryIds, ...recalled], quotes: quoted });
  return {
    all,
    recall(found: readonly MemoryId[]): void {
      for (const id of found) recalled.add(id);
      turn.leased.onGiven(all());
    },
    quote(found: readonly QuotedEntries[]): void {
      // A child tells all of them each time.
      quoted.push(...found.filter((one) => !quoted.includes(one)));
      turn.leased.onGiven(all());
    },
  };
}

/**
 * The current conversation. Throws `CLAIM_LOST` if the turn may not continue: its tools could act on text that was
 * forgotten or edited, or show it to people who may not read it.
 */
async function requireStanding(
  { services }: ReplyOptions,
  { claim, snapshot }: Opening,
  given: Given,
): Promise<Conversation> {
  const conversation = await standingOf(services, { claim, snapshot, given });
  if (conversation !== null) return conversation;
  throw new StrataError('CLAIM_LOST', { conversation: snapshot.conversation.key, work: 'reply' });
}

function toolContext({
  leased: { claim },
  basis: { profile, snapshot, newest },
}: PreparedTurn): Omit<ToolContext, 'audience' | 'callKey' | 'signal' | 'blobs' | 'onGiven' | 'onImages' | 'spawn'> {
  const { key, id } = snapshot.conversation;
  const author: Author = newest.author ?? { id: '', name: 'someone', kind: 'person' };
  return {
    conversation: key,
    conversationId: id,
    agentId: profile.agentId,
    author,
    readUpto: newest.seq,
    windowTokens: profile.windowTokens,
    replyEpoch: claim.epoch,
  };
}
