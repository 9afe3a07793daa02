import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Entry, MEMORY_STATES, type Memory, type ModelRequest, textOf } from '../../../src/adapter-kit.ts';
import { correctionFor } from '../../../src/context/measure/calibration.ts';
import { estimateRequest } from '../../../src/context/measure/tokens.ts';
import type { BotWorld } from '../../support/bot-world.ts';
import { settle } from '../compaction/compaction.world.ts';
import { pairingFault, viewFault } from './request.world.ts';
import { FACTS, type Story, SUMMARISER_WINDOW, WINDOW } from './story.world.ts';

/** The invariants of a bot: at each request, after each step, and at the end. */
export interface Oracle {
  /** Adds the problems of a reply's request to the violations. The signal is the call's. */
  inspectReply(request: ModelRequest, signal: AbortSignal): Promise<void>;
  inspectSummariser(request: ModelRequest): void;
  /** What must hold at any time. */
  check(): Promise<void>;
  /** I12: failures appear in `/status` with their next attempt, and were reported as events. */
  checkStatus(): Promise<void>;
  /** What holds when nothing is left to do: every message is answered, covered and remembered. */
  checkDone(): Promise<void>;
  /** I11: each reply is on the platform once, whole, and in order. */
  checkPosts(): Promise<void>;
  /** I10: after the end, the raw files hold nothing that was forgotten. */
  checkFiles(): Promise<void>;
}

export function createOracle(story: Story, world: () => BotWorld): Oracle {
  return {
    inspectReply: (request, signal) => inspectReply({ request, signal }, story, world()),
    inspectSummariser: (request) => inspectSummariser(request, story),
    check: () => check(story, world()),
    checkStatus: () => checkStatus(story, world()),
    checkDone: () => checkDone(story, world()),
    checkPosts: () => checkPosts(world()),
    checkFiles: () => checkFiles(story, world()),
  };
}

export function allMemories(world: BotWorld): Promise<readonly Memory[]> {
  const reader = { agentId: 'main', place: world.key, workspace: 'test:here', sharePublic: false };
  const { memories } = world.bot.services.store;
  return memories.list({ reader: { ...reader, audience: 'dm' }, states: MEMORY_STATES, limit: 1000, offset: 0 });
}

async function inspectReply(
  { request, signal }: { readonly request: ModelRequest; readonly signal: AbortSignal },
  story: Story,
  world: BotWorld,
): Promise<void> {
  if (!story.isWatching) return;
  try {
    const faults = await replyFaults(request, story, world);
    if (faults.length === 0) return;
    // A text that changed after it was read ends the turn.
    await settle();
    if (!signal.aborted) story.violations.push(...faults);
  } catch (error) {
    // A dead bot shows nothing, and its unsent posts are lost.
    if (error instanceof Error && /closed/u.test(error.message)) return;
    story.violations.push(error instanceof Error ? error.message : String(error));
  }
}

async function replyFaults(request: ModelRequest, story: Story, world: BotWorld): Promise<readonly string[]> {
  const [{ calibration, answeredUpto }, entries] = await Promise.all([world.conversation(), world.entries()]);
  const faults: string[] = [];
  const measured = estimateRequest(request) * correctionFor({ calibration }, 'test:chat') + request.maxOutputTokens;
  if (measured > WINDOW) faults.push(`a request measures ${Math.round(measured)} of ${WINDOW} tokens`);
  for (const [fact, since] of story.forgotten) {
    if (story.turn.serial > since && JSON.stringify(request).includes(fact)) {
      faults.push(`${fact} was forgotten and sent`);
    }
  }
  const broken = pairingFault(request.messages);
  if (broken !== null) faults.push(broken);
  const { readUpto, results } = story.turn;
  // A turn reads fewer of the questions that wait if its request cannot show them all.
  const isEarlier = ({ wantsReply, seq }: Entry) => wantsReply && seq > answeredUpto && seq < readUpto;
  const uptos = [readUpto, ...entries.filter(isEarlier).map(({ seq }) => seq)];
  const views = [...story.contextFroms]
    .toReversed()
    .flatMap((contextFrom) => uptos.map((upto) => ({ upto, contextFrom })))
    .map((view) => ({ ...view, fault: viewFault(request, { entries, results, ...view, readUpto: view.upto }) }));
  const right = views.find(({ fault }) => fault === null);
  if (right === undefined) faults.push(views.map(({ fault }) => fault).join(' | '));
  else story.turn.readUpto = right.upto;
  return faults;
}

function inspectSummariser(request: ModelRequest, { forgotten, violations, work }: Story): void {
  const own = estimateRequest(request) + request.maxOutputTokens;
  if (own > SUMMARISER_WINDOW) violations.push(`the summariser was given ${own} of ${SUMMARISER_WINDOW} tokens`);
  for (const [fact, since] of forgotten) {
    if (work.before > since && JSON.stringify(request).includes(fact)) {
      violations.push(`${fact} came to the summariser`);
    }
  }
}

async function check(story: Story, world: BotWorld): Promise<void> {
  expect(story.violations).toEqual([]);
  if (story.told.length === 0) return;
  const [snapshot, entries] = [await world.snapshot(), await world.entries()];
  checkCover(snapshot, entries);
  checkTranscript(entries, story);
  checkMemories(await allMemories(world), entries, story);
  for (const fact of story.forgotten.keys()) {
    expect(JSON.stringify([entries, snapshot.stack]).includes(fact), `${fact} was forgotten`).toBe(false);
  }
}

/** I2 and I7: the stack is contiguous, with the tail it covers everything, and no layer ends inside a tool group. */
function checkCover(snapshot: Awaited<ReturnType<BotWorld['snapshot']>>, entries: readonly Entry[]): void {
  const { conversation, stack, tail } = snapshot;
  let next = conversation.contextFrom;
  for (const item of stack) {
    expect(item.fromSeq).toBe(next);
    expect(item.toSeq).toBeGreaterThanOrEqual(item.fromSeq);
    const [last, following] = [entries[item.toSeq - 1], entries[item.toSeq]];
    const isTorn = following?.role === 'tool' && last?.role !== 'user' && last?.turn === following.turn;
    expect(isTorn, `a layer ends inside the tool group at #${item.toSeq}`).toBe(false);
    next = item.toSeq + 1;
  }
  expect(next).toBe(conversation.compactedUpto + 1);
  const seqs = Array.from({ length: conversation.nextSeq - next }, (_, index) => next + index);
  expect(tail.map((entry) => entry.seq)).toEqual(seqs);
}

/** I1 and I3: each message once, seqs without gaps, and no change that nobody asked for. */
function checkTranscript(entries: readonly Entry[], { told, forgotten, known }: Story): void {
  const deletedIds = new Set(told.flatMap(({ id, gone }) => (gone === 'forgotten' || gone === 'removed' ? [id] : [])));
  const firstDeleted = entries.find(({ externalId }) => externalId !== null && deletedIds.has(externalId));
  expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, index) => index + 1));
  const ids = entries.flatMap((entry) => (entry.externalId === null ? [] : [entry.externalId]));
  expect(ids.toSorted()).toEqual(told.map(({ id }) => id).toSorted());
  for (const entry of entries) {
    const now = JSON.stringify(entry.parts);
    const before = known.get(entry.seq);
    known.set(entry.seq, now);
    if (before === undefined || before === now) continue;
    const message = told.find(({ id }) => id === entry.externalId);
    const isAsked = message !== undefined && message.gone !== 'no';
    const isForgotten = [...forgotten.keys()].some((fact) => before.includes(fact));
    // Texts and tool calls of the bot after a deleted message may come from it, and are deleted with it.
    const isDerived = entry.role !== 'user' && entry.redactedAt !== null && entry.seq > (firstDeleted?.seq ?? Infinity);
    expect(isAsked || isForgotten || isDerived, `#${entry.seq} changed by itself: ${before} is ${now}`).toBe(true);
  }
}

function checkMemories(memories: readonly Memory[], entries: readonly Entry[], { told, forgotten }: Story): void {
  const facts = memories.flatMap((memory) => memory.text.match(FACTS) ?? []);
  expect(new Set(facts).size, `twice in the memories: ${facts.join(' ')}`).toBe(facts.length);
  for (const memory of memories) {
    const fact = memory.text.match(FACTS)?.[0] ?? '';
    expect(forgotten.has(fact), `${fact} was forgotten and is remembered`).toBe(false);
    expect(memory.sources.length).toBeGreaterThan(0);
    // A retracted statement may still be in an answer of the bot: stored as its guess, and never shown to a model.
    const isTakenBack = told.some((message) => message.fact === fact && message.gone !== 'no');
    for (const { seq } of memory.sources) {
      const source = entries.find((entry) => entry.seq === seq);
      if (isTakenBack && source?.role === 'assistant') expect(memory.state).toBe('candidate');
      else expect(source?.role, `memory ${fact} rests on #${seq}`).toBe('user');
      expect(textOf(source?.parts ?? [])).toContain(fact);
    }
  }
}

async function checkStatus(story: Story, world: BotWorld): Promise<void> {
  const before = await world.conversation();
  const status = await world.command('status');
  const { failures, lastError, maintenanceUntil, maintenanceEpoch } = await world.conversation();
  expect(status.tone).toBe('info');
  const text = status.fields.map(({ name, value }) => `${name}: ${value}`).join('\n');
  const hasMoved = before.maintenanceEpoch !== maintenanceEpoch || before.maintenanceUntil !== maintenanceUntil;
  const isRunning = maintenanceUntil !== null && maintenanceUntil > world.clock.now();
  if (failures === 0 || isRunning || hasMoved) return;
  expect(text).toContain(`failed ${failures} time`);
  expect(text).toMatch(/next attempt (?:now|in )/u);
  expect(lastError).not.toBe('');
  if (lastError === story.lastErrorAtCrash) return;
  // It is reported once it is stored, and the disk may be slow.
  const isReported = () =>
    world.events.some((event) => event.kind === 'maintenance.delayed' && event.message === lastError);
  await expect.poll(isReported, { timeout: 5_000 }).toBe(true);
}

async function checkDone({ told, isLossy }: Story, world: BotWorld): Promise<void> {
  const { conversation, stack } = await world.snapshot();
  expect(conversation.answeredUpto, 'a message was not answered').toBeGreaterThanOrEqual(conversation.replyDueSeq);
  expect(stack.filter((item) => item.kind === 'gap' || item.stale)).toEqual([]);
  expect(conversation).toMatchObject({ failures: 0, maintainAt: null, extractedUpto: conversation.nextSeq - 1 });
  const facts = (await allMemories(world)).flatMap((memory) => memory.text.match(FACTS) ?? []);
  const expected = told.flatMap(({ fact, gone }) => (fact !== null && gone === 'no' && !isLossy ? [fact] : []));
  expect(expected.filter((fact) => !facts.includes(fact))).toEqual([]);
}

async function checkPosts(world: BotWorld): Promise<void> {
  expect(await world.bot.services.store.outbox.pending(null)).toEqual([]);
  const turns = Map.groupBy(await world.entries(), (entry) => (entry.role === 'user' ? 0 : (entry.turn ?? 0)));
  turns.delete(0);
  const posted = Map.groupBy(world.channel.posts.values(), ({ nonce }) =>
    Number.parseInt(nonce.split('-')[1] ?? '', 36),
  );
  for (const [turn, entries] of turns) {
    const last = entries.at(-1);
    if (last === undefined || last.redactedAt !== null) continue;
    const text = (posted.get(turn) ?? []).map(({ body }) => body.text).join('');
    expect(text).toBe(textOf(last.parts));
  }
  expect([...posted.keys()].filter((turn) => !turns.has(turn))).toEqual([]);
}

async function checkFiles({ forgotten }: Story, world: BotWorld): Promise<void> {
  const bytes = await readFile(join(world.directory, 'strata.db'), 'latin1');
  const log = await readFile(join(world.directory, 'strata.db-wal'), 'latin1').catch(() => '');
  for (const fact of forgotten.keys()) {
    expect(bytes.includes(fact), `${fact} is in the file`).toBe(false);
    expect(log.includes(fact), `${fact} is in the log`).toBe(false);
  }
}
