import type { CommandServices } from '../commands/services.ts';
import { askForRewrite } from '../compaction/job/rewrite-request.ts';
import { isBuiltInEngine } from '../config/known.ts';
import { MAX_TAIL_ENTRIES } from '../context/cuts/plan.ts';
import { type WindowProblem, windowProblemOf } from '../context/fit/window-problem.ts';
import { type ContextReport, inspectContext } from '../context/inspection.ts';
import { type ContextPreview, previewContext, withQuestion } from '../context/preview.ts';
import type { Profiles } from '../context/profile/profile.ts';
import { newestMessage } from '../conversation/state/snapshot.ts';
import { createChannelImages } from '../conversation/turn/images/channel-images.ts';
import type { RefusedPasts } from '../conversation/turn/refused/refused-past.ts';
import { StrataError } from '../domain/errors.ts';
import { platformOf, rootOf } from '../domain/key.ts';
import { reportFocus } from '../memory/recall/focus.ts';
import type { Memories } from '../memory/service.ts';
import type { MaintainRequest, MaintainResult } from '../ports/engine.ts';
import type { ContextSnapshot, Conversation } from '../ports/store.ts';
import type { Channels, Services } from '../services.ts';
import { MINUTE_MS } from '../util/time/time.ts';
import type { Engines } from './engines.ts';
import type { BotOptions } from './options.ts';
import { volatileFor } from './per-turn-sections.ts';

/** A person waits for the result of `/compact`; longer work continues in the background. */
const COMPACT_LIMIT_MS = 10 * MINUTE_MS;
const EXTRACT_LIMIT_MS = 60_000;

interface CommandNeeds {
  readonly services: Services;
  readonly memories: Memories;
  readonly channels: Channels;
  readonly profiles: Profiles;
  readonly refusedPasts: RefusedPasts;
  readonly engines: Engines;
  readonly maintain: (request: MaintainRequest) => Promise<MaintainResult>;
}

/** What commands, the command line and the inspector use of a bot. */
export function createCommandServices(options: BotOptions, needs: CommandNeeds): CommandServices {
  const { services, memories, channels, profiles, maintain } = needs;
  const self: CommandServices = {
    ...services,
    memories,
    inspect: (conversation) => inspect(needs, conversation),
    profile: (conversation) => profiles.of(conversation),
    windowProblems: (asked) => windowProblems(needs, asked),
    preview: (conversation, text) => preview(needs, conversation, text),
    compact: (conversation, instruction) => compact(needs, conversation, instruction),
    async rewrite(conversation, summary, wish) {
      assertWritesSummaries(needs, conversation);
      await askForRewrite(services, { conversation, summary, wish });
    },
    extract: ({ id }) => {
      const signal = AbortSignal.timeout(EXTRACT_LIMIT_MS);
      return maintain({ conversationId: id, trigger: 'shutdown', instruction: null, signal });
    },
    linkTo: async (message) => (await channels.get(platformOf(message.conversation))?.linkTo(message)) ?? null,
    async loadImages(key, messages, { signal }) {
      const [channel = null, conversation] = [channels.get(platformOf(key)), rootOf(key)];
      return await createChannelImages({ channel, conversation, signal }).load(messages);
    },
    commandPrefix: (conversation) => channels.get(platformOf(conversation))?.traits.commandPrefix ?? '/',
    dataLocation: options.dataLocation ?? 'the store of this bot',
    inspectorLink: options.inspectorLink ?? (() => null),
    configTrouble: options.configTrouble ?? (() => null),
    // Loaded with the first picture.
    picture: async (conversation) => (await import('../inspection/picture.ts')).pictureOf(self, conversation),
  };
  return self;
}

async function inspect(
  { services, profiles, refusedPasts }: CommandNeeds,
  conversation: Conversation,
): Promise<ContextReport> {
  const snapshot = await readView(services, conversation);
  const profile = await profiles.of(snapshot.conversation);
  const newest = newestMessage(snapshot);
  // In conversations the bot never answers, the newest message has no sections of its own.
  const listens = services.agents.agentFor(conversation.key).mode === 'observe';
  const volatile = newest === null || listens ? [] : await volatileFor(services, { snapshot, newest, profile });
  const focus = newest === null ? null : reportFocus(newest);
  const leftOut = refusedPasts.leftOut(profile, snapshot);
  return inspectContext(services, { profile, snapshot, volatile, focus, leftOut });
}

/** The thresholds of an engine of a program may mean something else. A model that can't be opened is reported elsewhere. */
async function windowProblems(
  { services, profiles }: CommandNeeds,
  options: { readonly isOffline: boolean },
): Promise<readonly WindowProblem[]> {
  const problems: WindowProblem[] = [];
  for (const agent of services.agents.list()) {
    if (!isBuiltInEngine(agent.engine)) continue;
    const profile = await profiles.ofAgent(agent, options).catch(() => null);
    const problem = profile === null ? null : windowProblemOf(agent, profile);
    if (problem !== null) problems.push(problem);
  }
  return problems;
}

async function preview(
  { services, profiles }: CommandNeeds,
  conversation: Conversation,
  text: string,
): Promise<ContextPreview> {
  const now = services.clock.now();
  const asked = withQuestion(await readView(services, conversation), text, { now });
  const profile = await profiles.of(conversation);
  const volatile = await volatileFor(services, { ...asked, profile });
  return await previewContext(services, { ...asked, profile, volatile, now });
}

function assertWritesSummaries({ services, engines }: CommandNeeds, { key }: Conversation): void {
  const { id, ownsCompaction } = engines.for({ agentId: services.agents.agentFor(key).id }).info;
  if (ownsCompaction) return;
  throw new StrataError('USAGE', { problem: `The context engine ${id} of this agent writes no summaries.` });
}

/** Without maintenance, an engine can only remove messages. */
async function compact(
  { services, profiles, engines, maintain }: CommandNeeds,
  conversation: Conversation,
  instruction: string | null,
): Promise<MaintainResult> {
  const profile = await profiles.of(conversation);
  const engine = engines.for(profile);
  const signal = AbortSignal.timeout(COMPACT_LIMIT_MS);
  if (engine.info.ownsCompaction)
    return await maintain({ conversationId: conversation.id, trigger: 'manual', instruction, signal });
  const snapshot = await readView(services, conversation);
  const readUpto = snapshot.conversation.nextSeq - 1;
  const now = services.clock.now();
  const { compacted, reason } = await engine.compact({ profile, snapshot, readUpto, reason: 'manual', now });
  return { changed: compacted, reason };
}

async function readView({ store }: Services, { id, key }: Conversation): Promise<ContextSnapshot> {
  const snapshot = await store.transcript.context(id, { maxEntries: MAX_TAIL_ENTRIES });
  if (snapshot === null) throw new StrataError('CONVERSATION_UNKNOWN', { key });
  return snapshot;
}
