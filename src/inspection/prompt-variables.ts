import type { CommandServices } from '../commands/services.ts';
import { MEMORY_TOOL, SUMMARY_TOOL } from '../compaction/answer/answer.ts';
import { memoryRules } from '../compaction/job/answer-size.ts';
import { promptContextOf } from '../compaction/job/prompt-context.ts';
import { transcriptTokens } from '../compaction/job/room.ts';
import { headSpan } from '../compaction/job/span.ts';
import type { AgentSettings } from '../config/schema.ts';
import { guidanceText } from '../context/profile/profile.ts';
import { readNote } from '../context/record/note-chain.ts';
import { clockText } from '../context/view/label.ts';
import { renderSummary } from '../context/view/layers.ts';
import { StrataError } from '../domain/errors.ts';
import { platformOf } from '../domain/key.ts';
import { readerOf } from '../forecast/open.ts';
import { writeCondensed, writeSummary } from '../forecast/summarising.ts';
import { instructionsFor, memoryItem } from '../memory/recall/recall.ts';
import { readerFor } from '../memory/rights/policy.ts';
import type { ContextSnapshot, Conversation } from '../ports/store.ts';
import { type PromptLibrary, type PromptName, type PromptVariables, promptSourceOf } from '../prompts/variables.ts';
import { recollect } from '../requests/kept-sections.ts';
import { MINUTE_MS } from '../util/time/time.ts';

/** The variables of each prompt in one conversation. Those that its turns have not needed yet are missing. */
export type TurnVariables = { readonly [Name in PromptName]?: PromptVariables<Name> };

export interface TurnOf {
  readonly conversation: Conversation;
  readonly agent: AgentSettings;
}

const MAX_ENTRIES = 200;
const MAX_PARTS = 4;

/** As the newest turn had them, and as a summary that is written now would have them. */
export async function turnVariables(services: CommandServices, turn: TurnOf): Promise<TurnVariables> {
  const { conversation, agent } = turn;
  const snapshot = await services.store.transcript.context(conversation.id, { maxEntries: MAX_ENTRIES });
  const { prompts, seen } = recorded(services.prompts);
  guidanceText({ prompts }, agent, agent.tools);
  await instructionsFor({ ...services, prompts }, conversation, agent);
  const summary = snapshot?.stack.findLast(({ kind }) => kind === 'summary');
  if (summary !== undefined) renderSummary({ prompts }, summary, promptSourceOf(agent));
  const written = snapshot === null ? {} : await writtenVariables(services, turn, snapshot).catch(samplesInstead);
  return {
    ...seen(),
    ...written,
    persona: { agentId: agent.id },
    place: { platform: platformOf(conversation.key), audience: conversation.audience },
    child: {},
    passages: {},
    failure: { reason: 'timeout', commandPrefix: services.commandPrefix(conversation.key) },
    incomplete: { reason: 'length' },
    ...(await recalledVariables(services, turn)),
  };
}

/** If the model cannot be opened, its prompts show samples. */
function samplesInstead(error: unknown): TurnVariables {
  if (error instanceof StrataError) return {};
  throw error;
}

/** Remembers with what each prompt was rendered last. */
function recorded(inner: PromptLibrary): { readonly prompts: PromptLibrary; seen(): TurnVariables } {
  let seen: TurnVariables = {};
  return {
    seen: () => seen,
    prompts: {
      ...inner,
      render(name, variables, from) {
        seen = { ...seen, [name]: variables };
        return inner.render(name, variables, from);
      },
    },
  };
}

/** Of the newest reply: the time that it was told, and the memories that it was given. */
async function recalledVariables(
  { store, clock }: CommandServices,
  { conversation, agent }: TurnOf,
): Promise<TurnVariables> {
  const note = (await readNote(store.journal.requests, conversation.id, conversation.nextSeq))?.request ?? null;
  const now = clockText(note === null ? clock.now() : note.minute * MINUTE_MS, agent.timezone);
  const ids = note?.sections.flatMap((section) => (section.kind === 'memories' ? section.ids : [])) ?? [];
  const reader = readerFor(conversation, agent);
  const found = await recollect(store.memories, ids, { minute: note?.minute ?? 0, reader });
  const items = [...found.values()].flatMap(({ memory }) =>
    memory === null ? [] : [memoryItem(memory, agent.timezone)],
  );
  return { clock: { now }, ...(items.length === 0 ? {} : { memories: { items } }) };
}

/** Of a summary of the messages that are now seen in full. */
async function writtenVariables(
  services: CommandServices,
  { conversation, agent }: TurnOf,
  { tail, stack }: ContextSnapshot,
): Promise<TurnVariables> {
  const profile = await services.profile(conversation);
  const reader = await readerOf(services, agent, profile);
  const { prompts, seen } = recorded(services.prompts);
  const summarising = { services: { prompts }, agent, profile, reader, lengths: { messages: 1, summaries: 1 } };
  if (tail.length === 0) return {};
  writeSummary(summarising, tail, { kind: 'compact', hasStack: stack.length > 0 });
  const condensable = stack.filter(({ kind }) => kind === 'summary').slice(0, MAX_PARTS);
  const [first, last] = [condensable[0], condensable.at(-1)];
  if (first !== undefined && last !== undefined && first !== last) {
    writeCondensed(summarising, { parts: condensable, level: 1, fromSeq: first.fromSeq, toSeq: last.toSeq });
  }
  const { compactor, condenser } = seen();
  const rules = memoryRules(reader.windowTokens, tail);
  const extractor = { tools: true, ...rules };
  const frame = services.prompts.render('extractor', extractor, promptSourceOf(agent));
  const span = headSpan(tail, transcriptTokens(reader, frame, [SUMMARY_TOOL, MEMORY_TOOL]), agent.timezone);
  const job = { services, conversation, agent, call: { windowTokens: reader.windowTokens } };
  const { before, known, namesakes } = await promptContextOf(job, stack, span);
  const lines = span.lines.map(({ text }) => text);
  const lists = { before: [...before], known: [...known], namesakes: [...namesakes], lines };
  const transcript = { nonce: '000000000000', task: 'compact', ...lists };
  return {
    extractor,
    transcript,
    ...(compactor === undefined ? {} : { compactor }),
    ...(condenser === undefined ? {} : { condenser }),
  };
}
