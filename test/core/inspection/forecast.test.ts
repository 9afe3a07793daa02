import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Entry, type Part, textOf } from '../../../src/adapter-kit.ts';
import { reduceIfDue } from '../../../src/context/fit/fit.ts';
import { correctionFor } from '../../../src/context/measure/calibration.ts';
import { createFixedPrefixBuilder } from '../../../src/context/view/fixed-prefix.ts';
import { forecastFor, readerOf, readRecording } from '../../../src/forecast/open.ts';
import { type Recording, recordingOf } from '../../../src/forecast/recording.ts';
import { withSettings } from '../../../src/forecast/settings.ts';
import { writeSummary } from '../../../src/forecast/summarising.ts';
import { measureAt, snapshotAt } from '../../../src/forecast/view.ts';
import type { ModelPurpose } from '../../../src/ports/model.ts';
import type { PromptName } from '../../../src/prompts/variables.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { faithful, filler, scriptedModel } from '../compaction/compaction.world.ts';

let world: BotWorld;

beforeAll(async () => {
  world = await createBotWorld({ models: [scriptedModel(() => ({ text: 'I see.' }))] });
  await world.say('Hello.');
  await world.settled();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

function animalAt(index: number): string {
  return index < 6 ? `walrus of Kirkenes, number ${index},` : `seal number ${index}`;
}

/** Of a request for a summary. */
const PROMPTS: Partial<Record<ModelPurpose, PromptName>> = { compact: 'compactor', condense: 'condenser' };

const LONG = 'The river behind the garden rose to the second step of the stairs. '.repeat(12);

/** Rounds of a question, a tool call with a long result, and an answer. */
function rounds(count: number): readonly Entry[] {
  const blank = { externalId: null, author: null, replyTo: null, mentions: [], tokens: 40, editedAt: null };
  return Array.from({ length: count }, (_, round): readonly Entry[] => {
    const seq = 4 * round + 1;
    const callId = `c${round}`;
    const parts: readonly (readonly [Entry['role'], Part])[] = [
      ['user', { kind: 'text', text: `What is in room ${round}?` }],
      ['assistant', { kind: 'tool-call', callId, tool: 'look', input: { room: round, why: LONG } }],
      ['tool', { kind: 'tool-result', callId, tool: 'look', text: LONG, isError: false, blob: null }],
      ['assistant', { kind: 'text', text: `Room ${round} has water in it.` }],
    ];
    return parts.map(([role, part], index) => ({
      ...blank,
      role,
      seq: seq + index,
      turn: role === 'user' ? null : seq,
      parts: [part],
      at: 1000 * (seq + index),
      redactedAt: null,
      wantsReply: false,
    }));
  }).flat();
}

async function partsFor(recording: (entries: readonly Entry[]) => Promise<Recording>) {
  const { commandServices } = world.bot;
  const profile = await commandServices.profile(await world.conversation());
  const prefixes = createFixedPrefixBuilder(commandServices);
  return {
    recording: await recording(rounds(20)),
    profile,
    prefixes,
    correction: correctionFor({ calibration: null }, profile.modelId),
  };
}

describe('a forecast', () => {
  it('measures shortened tool traffic as the engine does', async () => {
    const agent = world.bot.commandServices.agents.agentFor(world.key);
    const conversation = { ...(await world.conversation()), calibration: null };
    const parts = await partsFor(async (entries) => recordingOf(conversation, entries, agent));
    const tiers = new Set<string>();
    for (const [start, end, windowTokens] of [
      [0, 4, 4000],
      [0, 23, 4000],
      [4, 40, 4000],
      [0, 80, 4000],
      [40, 78, 4000],
      [72, 80, 4000],
      [76, 80, 1250],
    ] as const) {
      const narrow = { ...parts, profile: { ...parts.profile, windowTokens } };
      const moment = { start, end, stack: [] };
      const snapshot = snapshotAt(narrow, moment);
      const readUpto = snapshot.conversation.nextSeq - 1;
      const { profile, prefixes } = narrow;
      const whole = reduceIfDue(prefixes, { profile, snapshot, readUpto, volatile: [], steps: [] }).measurement;
      expect(measureAt(narrow, moment)).toEqual(whole);
      tiers.add(whole.tier);
    }
    expect(tiers.size).toBeGreaterThan(1);
  });

  it('begins a sliding view where a cut may fall', async () => {
    const { commandServices } = world.bot;
    const agent = commandServices.agents.agentFor(world.key);
    const conversation = await world.conversation();
    const profile = await commandServices.profile(conversation);
    const recording = recordingOf({ ...conversation, calibration: null }, rounds(60), agent);
    expect(recording.starts.every((start) => start % 4 === 0)).toBe(true);
    const tried = withSettings(agent, 'engine=sliding,context_window=3000,max_output_tokens=300');
    const sliding = await forecastFor(commandServices, { recording, agent: tried, profile });
    expect(sliding.compactions).toBe(0);
    expect(sliding.peakTokens).toBeLessThanOrEqual(3000 * tried.compaction.background_threshold);
    expect(sliding.cacheBreaks).toBeGreaterThan(10);
  });

  it('leaves the bot a turn every few hundred messages', async () => {
    const { commandServices } = world.bot;
    const agent = commandServices.agents.agentFor(world.key);
    const conversation = await world.conversation();
    const profile = await commandServices.profile(conversation);
    const recording = recordingOf({ ...conversation, calibration: null }, rounds(500), agent);
    let isOver = false;
    const forecast = forecastFor(commandServices, { recording, agent, profile }).finally(() => {
      isOver = true;
    });
    let turns = 0;
    for (; !isOver; turns += 1) await nextTurn();
    expect((await forecast).messages).toBe(2000);
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it.each([
    [4000, 400],
    [100_000, 400],
    [4000, 0],
  ])('finds evidence in a window of %i with %i recalled', async (window, tokens) => {
    const reply = scriptedModel(() => ({ text: 'I see.' }), { id: 'test:chat' });
    await using talk = await createBotWorld({
      models: [reply, scriptedModel(faithful)],
      agent: { context_window: window, recall: { tokens }, compaction: { model: 'test:summariser' } },
    });
    const facts = Array.from({ length: 40 }, (_, index) => `The ${animalAt(index)} likes ${filler(150, index)}`);
    for (const text of [...facts, 'What did Ada say that the walrus of Kirkenes likes?']) {
      await talk.say(text);
      await talk.settled();
      await talk.bot.services.queue.idle();
    }
    const { commandServices } = talk.bot;
    const conversation = await talk.conversation();
    const agent = commandServices.agents.agentFor(talk.key);
    const recording = await readRecording(commandServices, conversation, agent);
    const [question] = [...recording.questions.values()];
    const sent = JSON.stringify(reply.requests.findLast(({ purpose }) => purpose === 'reply')?.messages);
    const shown = question?.evidence.filter((seq) => sent.includes(textOf(recording.entries[seq - 1]?.parts ?? [])));
    const profile = await commandServices.profile(conversation);
    const { evidence } = await forecastFor(commandServices, { recording, agent, profile });
    expect(evidence).toEqual({ questions: 1, messages: question?.evidence.length, inView: shown?.length });
    expect(evidence.inView === evidence.messages).toBe(window > 50_000);
    expect(evidence.inView > 0).toBe(tokens > 0);
  });

  it('asks for summaries as long as jobs do', async () => {
    const long = 'People talked about the river and the garden behind the house. '.repeat(3);
    const summariser = scriptedModel(({ messages }) => ({
      text: `${long}${/(?:walrus|seal)[^.]{0,20}/u.exec(JSON.stringify(messages))?.[0]}.`,
    }));
    await using talk = await createBotWorld({
      models: [scriptedModel(() => ({ text: 'I see.' }), { id: 'test:chat' }), summariser],
      agent: { context_window: 2000, compaction: { model: 'test:summariser' } },
    });
    for (let index = 0; index < 120; index += 1) {
      await talk.say(`The ${animalAt(index)} likes ${filler(150, index)}`);
      await talk.settled();
      await talk.bot.services.queue.idle();
    }
    const wordsIn = (text: string) => /about (\d+) words/u.exec(text)?.[1];
    const asked = summariser.requests.map(
      ({ purpose, system }) => `${PROMPTS[purpose]} ${wordsIn(system[0]?.text ?? '')}`,
    );
    const { commandServices } = talk.bot;
    const { prompts } = commandServices;
    const forecast: string[] = [];
    const render: typeof prompts.render = (name, variables, from) => {
      const rendered = prompts.render(name, variables, from);
      // The prompt is first measured with the most words.
      const words = wordsIn(rendered.text);
      if (words !== undefined && words !== '1000') forecast.push(`${name} ${words}`);
      return rendered;
    };
    const agent = commandServices.agents.agentFor(talk.key);
    const conversation = await talk.conversation();
    const recording = await readRecording(commandServices, conversation, agent);
    const profile = await commandServices.profile(conversation);
    await forecastFor({ ...commandServices, prompts: { ...prompts, render } }, { recording, agent, profile });
    expect(new Set(forecast)).toEqual(new Set(asked));
    expect(new Set(asked).size).toBe(2);
  });

  it("lets a gap's summary be as long as its messages", async () => {
    const { commandServices } = world.bot;
    const agent = commandServices.agents.agentFor(world.key);
    const profile = await commandServices.profile(await world.conversation());
    const reader = await readerOf(commandServices, agent, profile);
    const context = { services: commandServices, agent, profile, reader, lengths: { messages: 1, summaries: 1 } };
    const tokens = (kind: 'compact' | 'fill') =>
      writeSummary(context, rounds(1).slice(0, 1), { kind, hasStack: false }).outputTokens;
    expect(tokens('fill')).toBeGreaterThan(tokens('compact'));
  });

  it('reads the stored messages since the last reset', async () => {
    const { commandServices } = world.bot;
    const agent = commandServices.agents.agentFor(world.key);
    const { entries } = await readRecording(commandServices, await world.conversation(), agent);
    expect(entries.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});
