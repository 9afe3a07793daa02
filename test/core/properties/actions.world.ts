import { expect } from 'vitest';
import type { AttachmentPart, Author, SummaryId } from '../../../src/adapter-kit.ts';
import { ADA, BOB, type BotWorld } from '../../support/bot-world.ts';
import { settle } from '../compaction/compaction.world.ts';
import { allMemories, type Oracle } from './oracle.world.ts';
import type { Step, Telling } from './steps.world.ts';
import { FACTS, IDLE_MINUTES, type Story, type Told, textFor } from './story.world.ts';

/** What the actions work on. */
export interface Stage {
  readonly story: Story;
  readonly world: BotWorld;
  readonly oracle: Oracle;
}

const AUTHORS: readonly Author[] = [ADA, BOB];

/** Applies a step to the bot, and waits until its effects are done or held. */
export async function act(step: Step, stage: Stage): Promise<void> {
  const { story, world, oracle } = stage;
  switch (step.kind) {
    case 'say':
      return await tellAll([step.telling], stage);
    case 'burst':
      return await tellAll(step.tellings, stage);
    case 'redeliver':
      return await redeliver(picked(step.which, story), world);
    case 'edit':
      return await edit(picked(step.which, story), stage);
    case 'remove':
      return await remove(picked(step.which, story), world);
    case 'forget':
      return await forget(step.which, stage);
    case 'repeat':
      return await repeat(step.which, stage);
    case 'mood':
      story.mood = step.mood;
      return;
    case 'hold':
      story.isHolding = true;
      return;
    case 'letGo':
      return await letGo(stage);
    case 'release':
      return resume(story.waiting);
    case 'reset':
      return await reset(stage);
    case 'compact':
      if (story.mood !== 'slow') await world.command('compact');
      return;
    case 'status':
      if (story.told.length > 0) await oracle.checkStatus();
      return;
    case 'restart':
    case 'crash':
      return await startAgain(step.kind, stage);
    case 'platform':
      Object.assign(world.channel.trouble, { refuse: step.refuse, mute: step.mute });
      return;
    case 'wait':
      await world.clock.advance(step.seconds * 1000);
      return;
    default:
      step satisfies never;
  }
}

async function tellAll(tellings: readonly Telling[], stage: Stage): Promise<void> {
  await Promise.all(tellings.map((telling) => tell(telling, stage)));
  await (stage.story.isHolding ? calm(stage) : stage.world.settled());
}

async function tell(telling: Telling, { story, world }: Stage): Promise<void> {
  const word = story.word('m');
  const fact = telling.fact ? story.word('f') : null;
  const message: Told = { id: `x-${word}`, telling, word, fact, gone: 'no' };
  story.told.push(message);
  story.byWord.set(word, message);
  expect((await deliver(message, textFor(message), world)).stored).toBe(true);
}

function deliver({ id, telling }: Told, text: string, world: BotWorld) {
  const author = AUTHORS[telling.who] ?? ADA;
  return world.say(text, { id, asks: telling.asks, author, attachments: attachments(telling.attachments) });
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

function picked(index: number, { told }: Story): Told | undefined {
  return told[index % Math.max(1, told.length)];
}

async function redeliver(message: Told | undefined, world: BotWorld): Promise<void> {
  if (message === undefined) return;
  expect(await deliver(message, 'said again', world)).toEqual({ stored: false, willReply: false });
}

async function edit(message: Told | undefined, { story, world }: Stage): Promise<void> {
  if (message === undefined || message.gone === 'removed' || message.gone === 'forgotten') return;
  message.word = story.word('m');
  message.gone = 'edited';
  story.byWord.set(message.word, message);
  const parts = [{ kind: 'text' as const, text: `${message.word} so it is now` }];
  await world.bot.sink.edited({ conversation: world.key, externalId: message.id, parts, at: world.clock.now() });
}

async function remove(message: Told | undefined, world: BotWorld): Promise<void> {
  if (message === undefined) return;
  if (message.gone !== 'forgotten') message.gone = 'removed';
  await world.bot.sink.removed({ conversation: world.key, externalIds: [message.id] });
}

async function forget(index: number, { story, world }: Stage): Promise<void> {
  const memories = await allMemories(world);
  const memory = memories[index % Math.max(1, memories.length)];
  const fact = memory?.text.match(FACTS)?.[0];
  if (memory === undefined || fact === undefined) return;
  const { title } = await world.command('memory forget', { id: memory.id, confirm: 'yes' });
  expect(title).toBe('Forgotten');
  story.serial += 1;
  story.forgotten.set(fact, story.serial);
  for (const message of story.told) if (message.fact === fact) message.gone = 'forgotten';
}

/** A result that was delivered comes once more, late, under another id: nothing may come of it. */
async function repeat(index: number, { story, world }: Stage): Promise<void> {
  const commit = story.commits[index % Math.max(1, story.commits.length)];
  if (commit === undefined) return;
  const id = `${commit.summary.id.slice(0, -1)}Z` as SummaryId;
  const { summaries } = world.bot.services.store;
  const before = await allMemories(world);
  expect(await summaries.commitCompaction({ ...commit, summary: { ...commit.summary, id } })).toBe('stale');
  expect(await summaries.find(id)).toBeNull();
  const after = new Set((await allMemories(world)).map((memory) => memory.id));
  for (const write of commit.memories) {
    if (write.kind !== 'insert' || before.some((memory) => memory.id === write.memory.id)) continue;
    expect(after.has(write.memory.id)).toBe(false);
  }
}

async function reset({ story, world }: Stage): Promise<void> {
  if (story.told.length === 0) return;
  await world.command('reset');
  story.contextFroms.add((await world.conversation()).contextFrom);
}

async function startAgain(how: 'restart' | 'crash', stage: Stage): Promise<void> {
  const { story, world } = stage;
  story.isHolding = false;
  if (how === 'crash') {
    // A dead bot waits for nothing.
    story.waiting.clear();
    story.held.clear();
  }
  await world[how]();
  if (how === 'crash' && story.told.length > 0) story.lastErrorAtCrash = (await world.conversation()).lastError;
  await calm(stage);
}

async function letGo({ story, world }: Stage): Promise<void> {
  story.isHolding = false;
  resume(story.held);
  await world.settled();
}

function resume(parked: ReadonlySet<() => void>): void {
  for (const go of [...parked]) go();
}

/** Ends the watch and every call that hangs. */
export function resumeAll(story: Story): void {
  story.isWatching = false;
  resume(story.waiting);
  resume(story.held);
}

/** Waits until the running turn is done or held, so that the next step does not race with its reads. */
async function calm({ story, world }: Stage): Promise<void> {
  let isDone = false;
  const done = world.bot.settled().then(() => {
    isDone = true;
  });
  done.catch(() => undefined);
  for (let round = 0; round < 50 && !isDone && story.held.size === 0; round += 1) await settle();
}

/** Ends all faults and waits until no work is left. */
export async function finish(stage: Stage): Promise<void> {
  const { story, world, oracle } = stage;
  story.mood = 'well';
  Object.assign(world.channel.trouble, { refuse: 0, mute: 0 });
  for (let round = 0; round < 6; round += 1) {
    resume(story.waiting);
    await letGo(stage);
    await world.clock.advance(round < 4 ? 60_000 : (IDLE_MINUTES + 1) * 60_000);
    await settle();
  }
  await until(async () => world.bot.services.queue.stats().running === 0);
  await oracle.check();
  if (story.told.length === 0) return;
  await oracle.checkDone();
  await oracle.checkPosts();
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('The work did not end within 60 s.');
    await settle();
  }
}
