import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import {
  type AttachmentPart,
  type Author,
  type CompactionCommit,
  defineTool,
  type Entry,
  MEMORY_STATES,
  ModelError,
  type ModelMessage,
  type ModelRequest,
  type Storage,
  type StrataEvent,
  type SummaryId,
  textOf,
} from '../../src/adapter-kit.ts';
import { correctionFor } from '../../src/context/calibration.ts';
import { estimateRequest } from '../../src/context/tokens.ts';
import { ADA, BOB, type BotWorld, createBotWorld } from '../support/bot-world.ts';
import { filler, type Said, type Script, scriptedModel, settle, transcriptIn } from './compaction.world.ts';

/**
 * A whole bot under random steps. Every message, reply and tool result opens with a word of its own, so that a request
 * tells what stands in it and how often; every fact is a word that summaries and memories may carry on.
 */

export type Size = 'short' | 'medium' | 'cjk' | 'emoji' | 'huge';
export type Trouble = 'none' | 'overflow' | 'busy' | 'cut' | 'down';
export type Mood = 'well' | 'slow' | 'fails' | 'refuses' | 'empties' | 'talks';

export interface Telling {
  readonly size: Size;
  readonly asks: boolean;
  readonly who: 0 | 1;
  readonly fact: boolean;
  readonly attachments: number;
  /** Calls side by side, round after round. */
  readonly rounds: readonly number[];
  readonly resultSize: Size;
  readonly trouble: Trouble;
  readonly replies: number;
}

export type Step =
  | { readonly kind: 'say'; readonly telling: Telling }
  | { readonly kind: 'burst'; readonly tellings: readonly Telling[] }
  | { readonly kind: 'redeliver' | 'edit' | 'remove' | 'forget'; readonly which: number }
  | { readonly kind: 'repeat'; readonly which: number }
  | { readonly kind: 'mood'; readonly mood: Mood }
  | { readonly kind: 'hold' | 'letGo' | 'release' | 'reset' | 'compact' | 'status' | 'restart' | 'crash' }
  | { readonly kind: 'platform'; readonly refuse: number; readonly mute: number }
  | { readonly kind: 'wait'; readonly seconds: number };

const size = fc.constantFrom<Size>('short', 'short', 'medium', 'medium', 'medium', 'cjk', 'emoji', 'huge');
const telling: fc.Arbitrary<Telling> = fc.record({
  size,
  asks: fc.constantFrom(true, true, true, false),
  who: fc.constantFrom(0 as const, 1 as const),
  fact: fc.constantFrom(true, false),
  attachments: fc.constantFrom(0, 0, 0, 1, 2),
  rounds: fc.constantFrom<readonly number[]>([], [], [], [1], [3], [1, 2], [2, 1, 4]),
  resultSize: size,
  trouble: fc.constantFrom<Trouble>('none', 'none', 'none', 'none', 'none', 'none', 'overflow', 'busy', 'cut', 'down'),
  replies: fc.constantFrom(5, 40, 120),
});
const which = fc.nat(100);

function one<Kind extends Step['kind']>(kind: Kind, more: object = {}) {
  return fc.record({ kind: fc.constant(kind), ...more }) as fc.Arbitrary<Step>;
}

/** Steps by weight; a property leaves out what is not its business. */
export function steps(weights: Partial<Record<Step['kind'], number>>): fc.Arbitrary<readonly Step[]> {
  const kinds: Readonly<Record<Step['kind'], fc.Arbitrary<Step>>> = {
    say: one('say', { telling }),
    burst: one('burst', { tellings: fc.array(telling, { minLength: 2, maxLength: 4 }) }),
    redeliver: one('redeliver', { which }),
    edit: one('edit', { which }),
    remove: one('remove', { which }),
    forget: one('forget', { which }),
    repeat: one('repeat', { which }),
    mood: one('mood', { mood: fc.constantFrom<Mood>('well', 'well', 'slow', 'fails', 'refuses', 'empties', 'talks') }),
    hold: one('hold'),
    letGo: one('letGo'),
    release: one('release'),
    reset: one('reset'),
    compact: one('compact'),
    status: one('status'),
    restart: one('restart'),
    crash: one('crash'),
    platform: one('platform', { refuse: fc.nat(2), mute: fc.nat(1) }),
    wait: one('wait', { seconds: fc.constantFrom(1, 5, 30, 120, 700) }),
  };
  const chosen = Object.entries(weights).map(([kind, weight]) => ({ weight, arbitrary: kinds[kind as Step['kind']] }));
  return fc.array(fc.oneof(...chosen), { minLength: 8, maxLength: 26 });
}

interface Told {
  readonly id: string;
  readonly telling: Telling;
  /** The word that opens the text now; edits change it. */
  word: string;
  readonly oldWords: string[];
  readonly fact: string | null;
  gone: 'no' | 'edited' | 'removed' | 'forgotten';
}

const WINDOW = 3000;
const SUMMARISER_WINDOW = 4000;
const IDLE_MINUTES = 10;
const AUTHORS: readonly Author[] = [ADA, BOB];

/** How many words are made of one letter: `m` messages, `r` replies, `t` tool results, `f` facts. */
function wordMaker() {
  let count = 0;
  return (letter: 'm' | 'r' | 't' | 'f') => {
    count += 1;
    return `${letter}${String(count).padStart(5, '0')}${letter}`;
  };
}

const WORDS = /\b(?:m\d{5}m|r\d{5}r|t\d{5}t)\b/gu;
const FACTS = /\bf\d{5}f\b/gu;

function padding(of: Size): string {
  switch (of) {
    case 'short':
      return 'so it is';
    case 'medium':
      return filler(130);
    case 'cjk':
      return '今天下雨我们在家里喝茶看书，'.repeat(12);
    case 'emoji':
      return '🎉👩‍👩‍👧🙂 '.repeat(25);
    case 'huge':
      return filler(3400);
    default:
      return of satisfies never;
  }
}

const SYLLABLES = ['ba', 'do', 'ki', 'lu', 'me', 'na', 'po', 'ri', 'su', 'te', 'va', 'xo', 'zi', 'go', 'fu', 'hy'];
const STATEMENT = /I keep \w+ beside \w+ and f\d{5}f under \w+\./gu;

/** A statement that shares no telling word with any other: to forget one is not to forget its neighbours. */
function statementOf(fact: string): string {
  const number = Number(fact.slice(1, -1));
  const named = (salt: number) =>
    [1, 16, 256, 4096].map((place) => SYLLABLES[Math.floor((number * 4 + salt) / place) % 16]).join('');
  return `I keep ${named(1)} beside ${named(2)} and ${fact} under ${named(3)}.`;
}

export interface PlayOptions {
  /** The provider counts so many tokens for each that is estimated. */
  readonly ratio?: number;
}

/** The bot, what was done to it, and what must hold after each step. */
export async function createPlayer({ ratio = 1 }: PlayOptions = {}) {
  const word = wordMaker();
  const told: Told[] = [];
  const byWord = new Map<string, Told>();
  const violations: string[] = [];
  const commits: CompactionCommit[] = [];
  const forgotten = new Map<string, number>();
  const contextFroms = new Set([1]);
  const known = new Map<number, string>();
  const waiting = new Set<() => void>();
  const held = new Set<() => void>();
  let mood: Mood = 'well';
  let isHolding = false;
  let isWatching = true;
  let troubled = '';
  /** A model answered and named no memory: what was said then is not expected to be remembered. */
  let isLossy = false;
  let turn = { readUpto: 0, results: [] as string[], step: 0, serial: 0 };
  /** Of the last two works: what the last one reads was looked up before it began. */
  let work = { serial: 0, before: 0 };
  let serial = 0;
  let refusals = 0;
  let requests = 0;

  const blame = (text: string) => violations.push(text);

  const reply: Script = async (request, { signal }) => {
    requests += 1;
    await inspectReply(request);
    const own = estimateRequest(request) * ratio;
    if (own + request.maxOutputTokens > WINDOW) {
      refusals += 1;
      if (((await world.conversation()).calibration?.samples ?? 0) > 0) {
        blame(`the provider counts ${Math.round(own)} tokens although its count is known`);
      }
      throw new ModelError({ model: 'test:chat', reason: 'overflow', detail: 'prompt is too long' });
    }
    if (isHolding) await parked(held, signal);
    const ask = byWord.get(newestWord(request));
    const plan = ask?.telling;
    const isFirst = turn.step === 0;
    const trouble = isFirst && troubled !== ask?.word ? (plan?.trouble ?? 'none') : 'none';
    if (trouble !== 'none') troubled = ask?.word ?? '';
    if (trouble === 'overflow') throw new ModelError({ model: 'test:chat', reason: 'overflow', detail: 'too long' });
    if (trouble === 'busy') throw new ModelError({ model: 'test:chat', reason: 'transient', detail: '503' });
    if (trouble === 'down') throw new ModelError({ model: 'test:chat', reason: 'fatal', detail: '400' });
    if (trouble === 'cut') return { text: 'I was about', cut: true };
    const inputTokens = requests % 5 === 0 ? 0 : Math.round(own);
    const calls = plan?.rounds[turn.step];
    if (calls === undefined) return { text: replyText(request, plan?.replies ?? 5), inputTokens };
    const made = Array.from({ length: calls }, () => word('t'));
    turn.step += 1;
    turn.results.push(...made);
    const input = (canary: string) => ({ canary, size: plan?.resultSize ?? 'short' });
    return { calls: made.map((canary) => ({ tool: 'look', input: input(canary) })), inputTokens };
  };

  /** Sometimes the bot says again what it recalled. */
  const replyText = (request: ModelRequest, length: number) => {
    const recalled = volatileText(request).match(STATEMENT) ?? [];
    return `${word('r')} ${recalled.join(' ')} ${filler(length)}`;
  };

  const summarise: Script = async (request, { signal }) => {
    checkSummariser(request);
    const asked = mood;
    if (asked === 'slow') await parked(waiting, signal);
    isLossy ||= asked === 'talks' || (request.purpose === 'extract' && (asked === 'refuses' || asked === 'empties'));
    switch (asked) {
      case 'fails':
        throw new ModelError({ model: 'test:summariser', reason: 'transient', detail: 'HTTP 500' });
      case 'refuses':
        return { text: "I'm sorry, but I cannot help with that." };
      case 'empties':
        return { text: '' };
      default:
        return summaryOf(request, asked);
    }
  };

  const inspectReply = async (request: ModelRequest) => {
    if (!isWatching) return;
    try {
      await checkReply(request);
    } catch (error) {
      // A bot that died has nothing to show; what it would have sent went nowhere.
      if (error instanceof Error && /closed/u.test(error.message)) return;
      blame(error instanceof Error ? error.message : String(error));
    }
  };

  const checkSummariser = (request: ModelRequest) => {
    const own = estimateRequest(request) + request.maxOutputTokens;
    if (own > SUMMARISER_WINDOW) blame(`the summariser was given ${own} of ${SUMMARISER_WINDOW} tokens`);
    for (const [fact, since] of forgotten) {
      if (work.before > since && JSON.stringify(request).includes(fact)) blame(`${fact} came to the summariser`);
    }
  };

  const checkReply = async (request: ModelRequest) => {
    const [{ calibration }, entries] = await Promise.all([world.conversation(), world.entries()]);
    const measured = estimateRequest(request) * correctionFor(calibration, 'test:chat') + request.maxOutputTokens;
    if (measured > WINDOW) blame(`a request measures ${Math.round(measured)} of ${WINDOW} tokens`);
    for (const [fact, since] of forgotten) {
      if (turn.serial > since && JSON.stringify(request).includes(fact)) blame(`${fact} was forgotten and sent`);
    }
    const broken = pairingFault(request.messages);
    if (broken !== null) blame(broken);
    const faults = [...contextFroms].toReversed().map((from) => viewFault(request, entries, from));
    const fault = faults.includes(null) ? null : faults.join(' | ');
    if (fault) blame(fault);
  };

  /** What of the transcript must stand in the request, given where its stack ends. Null when it does. */
  const viewFault = (request: ModelRequest, entries: readonly Entry[], contextFrom: number): string | null => {
    const end = stackEnd(request, contextFrom);
    if (typeof end === 'string') return end;
    const { readUpto } = turn;
    const inView = entries
      .filter((entry) => entry.seq > end && entry.role !== 'notice' && placeOf(entry) <= readUpto)
      .sort((a, b) => placeOf(a) - placeOf(b) || a.seq - b.seq);
    const left = Number(/\[System: (\d+) earlier messages are left out/u.exec(bodyText(request))?.[1] ?? 0);
    const wanted = inView.slice(left).flatMap((entry) => (entry.redactedAt === null ? wordsOf(entry.parts) : []));
    const found = bodyText(request).match(WORDS) ?? [];
    const expected = [...wanted, ...turn.results];
    if (found.join() !== expected.join()) {
      return `the request holds ${found.join(' ')} where the transcript after #${end} up to #${readUpto} says ${expected.join(' ')}`;
    }
    if (!bodyText(request).includes(`[#${readUpto} |`)) return `message #${readUpto}, which is answered, is missing`;
    return null;
  };

  const seeEvent = (event: StrataEvent) => {
    if (event.kind === 'error.internal') blame(`internal: ${event.message}`);
    if (event.kind === 'turn.started') {
      serial += 1;
      turn = { readUpto: event.readUpto, results: [], step: 0, serial };
    }
    if (event.kind === 'maintenance.started') {
      serial += 1;
      work = { serial, before: work.serial };
    }
  };
  const models = [
    scriptedModel(reply, { id: 'test:chat', window: WINDOW }),
    scriptedModel(summarise, { id: 'test:summariser', window: SUMMARISER_WINDOW }),
  ];
  const look = defineTool({
    name: 'look',
    description: 'Looks something up',
    input: z.object({ canary: z.string(), size: z.enum(['short', 'medium', 'cjk', 'emoji', 'huge']) }),
    run: async ({ canary, size: of }) => `${canary} ${padding(of)}`,
  });
  const world: BotWorld = await createBotWorld({
    models,
    agent: {
      tools: ['look', 'memory_recall'],
      mode: 'mention',
      compaction: { model: 'test:summariser', idle_minutes: IDLE_MINUTES },
    },
    tools: [look],
    onEvent: (event) => seeEvent(event),
    storage: (storage) => recording(storage, commits),
  });
  const tell = async (of: Telling) => {
    const opening = word('m');
    const fact = of.fact ? word('f') : null;
    const message: Told = { id: `x-${opening}`, telling: of, word: opening, oldWords: [], fact, gone: 'no' };
    told.push(message);
    byWord.set(opening, message);
    const receipt = await deliver(message, textFor(message));
    expect(receipt.stored).toBe(true);
  };
  const textFor = ({ word: opening, fact, telling: of }: Told) =>
    `${opening} ${fact === null ? '' : statementOf(fact)} ${padding(of.size)}`;
  const deliver = (message: Told, text: string) =>
    world.say(text, {
      id: message.id,
      asks: message.telling.asks,
      author: AUTHORS[message.telling.who] ?? ADA,
      attachments: attachments(message.telling.attachments),
    });
  const pick = (index: number): Told | null => (told.length === 0 ? null : (told[index % told.length] ?? null));

  const act = async (step: Step): Promise<void> => {
    switch (step.kind) {
      case 'say':
        await tell(step.telling);
        return await (isHolding ? calm() : world.settled());
      case 'burst':
        await Promise.all(step.tellings.map(tell));
        return await (isHolding ? calm() : world.settled());
      case 'redeliver': {
        const message = pick(step.which);
        if (message !== null) expect(await deliver(message, 'said again')).toEqual({ stored: false, willReply: false });
        return;
      }
      case 'edit': {
        const message = pick(step.which);
        if (message === null || message.gone === 'removed' || message.gone === 'forgotten') return;
        message.oldWords.push(message.word);
        message.word = word('m');
        message.gone = 'edited';
        byWord.set(message.word, message);
        const parts = [{ kind: 'text' as const, text: `${message.word} so it is now` }];
        await world.bot.sink.edited({ conversation: world.key, externalId: message.id, parts, at: world.clock.now() });
        return;
      }
      case 'remove': {
        const message = pick(step.which);
        if (message === null) return;
        if (message.gone !== 'forgotten') message.gone = 'removed';
        await world.bot.sink.removed({ conversation: world.key, externalIds: [message.id] });
        return;
      }
      case 'forget':
        return await forget(step.which);
      case 'repeat':
        return await repeat(step.which);
      case 'mood':
        mood = step.mood;
        return;
      case 'hold':
        isHolding = true;
        return;
      case 'letGo':
        return await letGo();
      case 'release':
        for (const resume of [...waiting]) resume();
        return;
      case 'reset':
        if (told.length === 0) return;
        await world.command('reset');
        contextFroms.add((await world.conversation()).contextFrom);
        return;
      case 'compact':
        if (mood === 'slow') return;
        await world.command('compact');
        return;
      case 'status':
        return await checkStatus();
      case 'restart':
        isHolding = false;
        await world.restart();
        return await calm();
      case 'crash':
        // What a dead bot waited for never comes.
        waiting.clear();
        held.clear();
        isHolding = false;
        await world.crash();
        return await calm();
      case 'platform':
        Object.assign(world.channel.trouble, { refuse: step.refuse, mute: step.mute });
        return;
      case 'wait':
        await world.clock.advance(step.seconds * 1000);
        return;
      default:
        step satisfies never;
    }
  };

  /** Until the turn that began is done, or waits to be let go: the next step must not race with what it reads. */
  const calm = async () => {
    let isDone = false;
    const done = world.bot.settled().then(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    for (let round = 0; round < 50 && !isDone && held.size === 0; round += 1) await settle();
  };

  const letGo = async () => {
    isHolding = false;
    for (const resume of [...held]) resume();
    await world.settled();
  };

  const forget = async (index: number) => {
    const memories = await allMemories();
    const memory = memories[index % Math.max(1, memories.length)];
    const fact = memory?.text.match(FACTS)?.[0];
    if (memory === undefined || fact === undefined) return;
    const { title } = await world.command('memory forget', { id: memory.id, confirm: 'yes' });
    expect(title).toBe('Forgotten');
    serial += 1;
    forgotten.set(fact, serial);
    for (const message of told) if (message.fact === fact) message.gone = 'forgotten';
  };

  /** A result that was delivered comes once more, late, under another id: nothing may come of it. */
  const repeat = async (index: number) => {
    const commit = commits[index % Math.max(1, commits.length)];
    if (commit === undefined) return;
    const id = `${commit.summary.id.slice(0, -1)}Z` as SummaryId;
    const { summaries } = world.bot.services.store;
    const before = await allMemories();
    expect(await summaries.commitCompaction({ ...commit, summary: { ...commit.summary, id } })).toBe('stale');
    expect(await summaries.find(id)).toBeNull();
    const after = new Set((await allMemories()).map((memory) => memory.id));
    for (const write of commit.memories) {
      if (write.kind !== 'insert' || before.some((memory) => memory.id === write.memory.id)) continue;
      expect(after.has(write.memory.id)).toBe(false);
    }
  };

  const allMemories = () => {
    const reader = { agentId: 'main', place: world.key, workspace: 'test:here', audience: 'dm', sharePublic: false };
    const { memories } = world.bot.services.store;
    return memories.list({ reader: { ...reader, audience: 'dm' }, states: MEMORY_STATES, limit: 1000, offset: 0 });
  };

  /** I12: what failed stands in `/status` with its next attempt, and was told as an event. */
  const checkStatus = async () => {
    if (told.length === 0) return;
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
    const delayed = world.events.filter((event) => event.kind === 'maintenance.delayed');
    expect(delayed.some((event) => event.message === lastError)).toBe(true);
    expect(lastError).not.toBe('');
  };

  /** What holds at every instant. */
  const check = async (): Promise<void> => {
    expect(violations).toEqual([]);
    if (told.length === 0) return;
    const [snapshot, entries] = [await world.snapshot(), await world.entries()];
    checkCover(snapshot, entries);
    checkTranscript(entries, { told, forgotten, known });
    await checkMemories(await allMemories(), entries);
    for (const fact of forgotten.keys()) {
      expect(JSON.stringify([entries, snapshot.stack]).includes(fact), `${fact} was forgotten`).toBe(false);
    }
  };

  const checkMemories = async (
    memories: Awaited<ReturnType<typeof allMemories>>,
    entries: readonly Entry[],
  ): Promise<void> => {
    const facts = memories.flatMap((memory) => memory.text.match(FACTS) ?? []);
    expect(new Set(facts).size, `twice in the memories: ${facts.join(' ')}`).toBe(facts.length);
    for (const memory of memories) {
      const fact = memory.text.match(FACTS)?.[0] ?? '';
      expect(forgotten.has(fact), `${fact} was forgotten and is remembered`).toBe(false);
      expect(memory.sources.length).toBeGreaterThan(0);
      // What a person took back may still stand in an answer of the bot: kept as its guess, and never put before a model.
      const isTakenBack = told.some((message) => message.fact === fact && message.gone !== 'no');
      for (const { seq } of memory.sources) {
        const source = entries.find((entry) => entry.seq === seq);
        if (isTakenBack && source?.role === 'assistant') expect(memory.state).toBe('candidate');
        else expect(source?.role, `memory ${fact} rests on #${seq}`).toBe('user');
        expect(textOf(source?.parts ?? [])).toContain(fact);
      }
    }
  };

  /** Everything works again: all that was put off is done, and what was said is answered, covered and remembered. */
  const finish = async (): Promise<void> => {
    mood = 'well';
    Object.assign(world.channel.trouble, { refuse: 0, mute: 0 });
    for (let round = 0; round < 6; round += 1) {
      for (const resume of [...waiting]) resume();
      await letGo();
      await world.clock.advance(round < 4 ? 60_000 : (IDLE_MINUTES + 1) * 60_000);
      await settle();
    }
    await until(async () => world.bot.services.queue.stats().running === 0);
    await check();
    if (told.length === 0) return;
    const { conversation, stack } = await world.snapshot();
    expect(conversation.answeredUpto, 'a message was not answered').toBeGreaterThanOrEqual(conversation.replyDueSeq);
    expect(stack.filter((item) => item.kind === 'gap' || item.stale)).toEqual([]);
    expect(conversation).toMatchObject({ failures: 0, maintainAt: null, extractedUpto: conversation.nextSeq - 1 });
    const facts = (await allMemories()).flatMap((memory) => memory.text.match(FACTS) ?? []);
    const expected = told.flatMap(({ fact, gone }) => (fact !== null && gone === 'no' && !isLossy ? [fact] : []));
    expect(expected.filter((fact) => !facts.includes(fact))).toEqual([]);
    await checkPosts();
  };

  /** I11: each reply stands on the platform once, whole, and in order. */
  const checkPosts = async () => {
    expect(await world.bot.services.store.outbox.pending(null)).toEqual([]);
    const turns = Map.groupBy(await world.entries(), (entry) => (entry.role === 'user' ? 0 : (entry.turn ?? 0)));
    turns.delete(0);
    const posted = Map.groupBy(world.channel.posts.values(), ({ nonce }) =>
      Number.parseInt(nonce.split('-')[1] ?? '', 36),
    );
    for (const [turnSeq, entries] of turns) {
      const last = entries.at(-1);
      if (last === undefined || last.redactedAt !== null) continue;
      const text = (posted.get(turnSeq) ?? []).map(({ body }) => body.text).join('');
      expect(text).toBe(textOf(last.parts));
    }
    expect([...posted.keys()].filter((turnSeq) => !turns.has(turnSeq))).toEqual([]);
  };

  /** After the end, the raw file holds nothing that was forgotten. */
  const bury = async (): Promise<void> => {
    isWatching = false;
    for (const resume of [...waiting, ...held]) resume();
    await world.bot.stop({ deadlineMs: 20 });
    const bytes = await readFile(join(world.directory, 'strata.db'), 'latin1');
    const log = await readFile(join(world.directory, 'strata.db-wal'), 'latin1').catch(() => '');
    for (const fact of forgotten.keys()) {
      expect(bytes.includes(fact), `${fact} is in the file`).toBe(false);
      expect(log.includes(fact), `${fact} is in the log`).toBe(false);
    }
  };

  return {
    world,
    act,
    check,
    finish,
    bury,
    forgotten,
    refusals: () => refusals,
    async [Symbol.asyncDispose]() {
      isWatching = false;
      for (const resume of [...waiting, ...held]) resume();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** Waits to be let go, or for the end of the call. */
function parked(where: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const resume = () => {
      where.delete(resume);
      resolve();
    };
    const stop = () => {
      where.delete(resume);
      reject(new ModelError({ model: 'test', reason: 'aborted', detail: 'stopped' }));
    };
    if (signal.aborted) return stop();
    where.add(resume);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Carries the facts on, proposes each line of the talk that holds one, whoever said it. */
function summaryOf(request: ModelRequest, mood: Mood): Said {
  const transcript = transcriptIn(request);
  const facts = [...new Set(transcript.match(FACTS) ?? [])].slice(0, 12);
  const summary = `In 2026 Ada, Bob and the assistant talked about ${facts.join(', ') || 'the weather'}.`;
  if (request.purpose === 'condense' || mood === 'talks') return { text: summary };
  const lines = transcript.split(/\n(?=\[#)/u);
  const calls = lines.flatMap((line) => {
    const seq = Number(/^\[#(\d+) \|/u.exec(line)?.[1] ?? 0);
    return [...new Set(line.match(STATEMENT) ?? [])].map((text) => ({
      tool: 'memory_save',
      input: { kind: 'fact', text, sources: [seq], importance: 0.7 },
    }));
  });
  if (request.purpose === 'extract') return { calls };
  return { calls: [{ tool: 'summary_save', input: { summary } }, ...calls] };
}

/** Where an entry stands in the view: a person's message at its seq, the bot's words after what their turn had read. */
function placeOf(entry: Entry): number {
  return entry.role === 'user' ? entry.seq : (entry.turn ?? entry.seq) + 0.5;
}

function wordsOf(parts: Entry['parts']): readonly string[] {
  return parts.flatMap((part) => {
    const text = part.kind === 'text' || part.kind === 'tool-result' ? part.text : '';
    return text.match(WORDS)?.slice(0, 1) ?? [];
  });
}

/** Where the stack of a request ends; a sentence when it is not contiguous. */
function stackEnd({ system }: ModelRequest, contextFrom: number): number | string {
  let end = contextFrom - 1;
  for (const { text } of system) {
    const summary = /^\[(?:Summary \S+ of messages|System: the summaries of messages) #(\d+) to #(\d+)/u.exec(text);
    const gap = /^\[System: (\d+) older messages were truncated due to context limits\]$/u.exec(text);
    if (gap !== null) end += Number(gap[1]);
    if (summary === null) continue;
    if (Number(summary[1]) !== end + 1) return `a layer starts at #${summary[1]} where #${end + 1} is next`;
    end = Number(summary[2]);
  }
  return end;
}

const VOLATILE = /^\[(?:Recalled memories|The newest message replies to|Current time)/u;

function bodyText({ messages }: ModelRequest): string {
  return messages.map((message) => textIn(message, (text) => !VOLATILE.test(text))).join('\n');
}

function volatileText({ messages }: ModelRequest): string {
  return messages
    .map((message) => (message.role === 'user' ? textIn(message, (text) => VOLATILE.test(text)) : ''))
    .join('\n');
}

function textIn(message: ModelMessage, isWanted: (text: string) => boolean): string {
  switch (message.role) {
    case 'user':
      return message.content
        .flatMap((part) => (part.kind === 'text' && isWanted(part.text) ? [part.text] : []))
        .join('\n');
    case 'assistant':
      return message.text;
    case 'tool':
      return message.results.map(({ text }) => text).join('\n');
    default:
      return message satisfies never;
  }
}

/** The word of the message that is answered. */
function newestWord(request: ModelRequest): string {
  const newest = request.messages.findLast((message) => message.role === 'user');
  return (newest === undefined ? '' : textIn(newest, (text) => !VOLATILE.test(text))).match(/m\d{5}m/gu)?.at(-1) ?? '';
}

/** I7: calls are followed by their results, all of them, under ids that are used once. */
function pairingFault(messages: readonly ModelMessage[]): string | null {
  const ids = new Set<string>();
  if (messages[0]?.role !== 'user') return 'the first message is not a person’s';
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool' && messages[index - 1]?.role !== 'assistant') return 'results stand without calls';
    if (message.role !== 'assistant' || message.calls.length === 0) continue;
    const next = messages[index + 1];
    const answered = next?.role === 'tool' ? next.results.map(({ callId }) => callId) : [];
    const called = message.calls.map(({ callId }) => callId);
    if (called.join() !== answered.join()) return `calls ${called.join()} have the results ${answered.join()}`;
    if (called.some((id) => ids.has(id))) return `a call id is used twice: ${called.join()}`;
    for (const id of called) ids.add(id);
  }
  return null;
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

interface Ledger {
  readonly told: readonly Told[];
  readonly forgotten: ReadonlyMap<string, number>;
  readonly known: Map<number, string>;
}

/** I1 and I3: each message once, seqs without gaps, and nothing changes that nobody asked to change. */
function checkTranscript(entries: readonly Entry[], { told, forgotten, known }: Ledger): void {
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
    expect(isAsked || isForgotten, `#${entry.seq} changed by itself: ${before} is ${now}`).toBe(true);
  }
}

/** Keeps what was committed, so that it can be delivered once more. */
function recording(storage: Storage, commits: CompactionCommit[]): Storage {
  const { summaries } = storage.store;
  const commitCompaction: typeof summaries.commitCompaction = async (commit) => {
    const result = await summaries.commitCompaction(commit);
    if (result === 'committed') commits.push(commit);
    return result;
  };
  return { ...storage, store: { ...storage.store, summaries: { ...summaries, commitCompaction } } };
}

function attachments(count: number): readonly AttachmentPart[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'attachment',
    name: `photo-${index}.png`,
    mediaType: 'image/png',
    sizeBytes: 4_000_000,
    reference: `data:image/png;base64,${'A'.repeat(20_000)}`,
  }));
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('The work did not end within 10 s.');
    await settle();
  }
}
