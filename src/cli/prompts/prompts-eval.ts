import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { App } from '../../app/app.ts';
import { findPlugins } from '../../app/configuration.ts';
import { loadConfig } from '../../config/load.ts';
import { MAX_RUNS } from '../../context/history.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import { StrataError } from '../../domain/errors.ts';
import { makeKey } from '../../domain/key.ts';
import type { ConversationKey } from '../../domain/message.ts';
import { readerIn } from '../../memory/rights/policy.ts';
import type { Conversation } from '../../ports/store.ts';
import { createPromptLibrary } from '../../prompts/library.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import { makeFolder, OWNERS_FOLDER } from '../../util/files/make-folder.ts';
import { formatTable } from '../../util/text/table.ts';
import { formatNumber } from '../../util/text/text.ts';
import { MINUTE_MS } from '../../util/time/time.ts';
import { type Cli, globalsOf, untilStopped, writeJson } from '../cli.ts';
import { withScratchApp } from '../scratch.ts';
import { storeMessage } from '../transfer/import.ts';
import { type EvalCase, type EvalRun, evalRunSchema, type Kept, readCase, scoreOf } from './eval-case.ts';
import { SAMPLES } from './eval-samples.ts';

/** More compactions than any recorded conversation needs. */
const MAX_ROUNDS = 20;
const MAX_MEMORIES = 1000;
/** A Monday, so that "Friday" in a conversation is always the same day. */
const FIRST_AT = Date.UTC(2026, 5, 1, 9);
const NOWHERE = `The conversations need a temporary store, but nothing can be written at ${tmpdir()}. Set TMPDIR to another folder.`;
const WRITERS = ['compactor', 'condenser', 'extractor', 'transcript'];

interface Options {
  readonly files: readonly string[];
  readonly json: boolean;
}

/** `prompts eval`: measures what the configured prompts and model keep of recorded conversations, and compares it with the last run. */
export async function evaluatePrompts(cli: Cli, own: Command, { files, json }: Options): Promise<void> {
  const cases = files.length === 0 ? SAMPLES : files.map(readCase);
  const globals = globalsOf(own);
  const { config } = loadConfig((await findPlugins(cli, globals)).load);
  const run = await withScratchApp(cli, globals, (app) => untilStopped(cli, evaluate(app, cases)));
  if (run === null) throw new StrataError('USAGE', { problem: NOWHERE });
  const file = join(config.storage.directory, 'prompts-eval.json');
  const before = readLast(file);
  makeFolder(resolve(config.storage.directory), OWNERS_FOLDER);
  writeFileSync(file, `${JSON.stringify(run, null, 2)}\n`);
  if (json) writeJson(cli, { ...run, before });
  else cli.stdout.write(report(run, before));
}

/** Null if there was none or it can no longer be read, so there is nothing to compare with. */
function readLast(file: string): EvalRun | null {
  try {
    return evalRunSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

async function evaluate(app: App, cases: readonly EvalCase[]): Promise<EvalRun> {
  const { agents, clock } = app.services;
  const agent = agents.agentFor(keyOf('any'));
  const results = [];
  for (const one of cases) results.push(await play(app, one));
  const prompts = createPromptLibrary({ sources: [promptSourceOf(agent)] }).list(promptSourceOf(agent));
  const writers = prompts.filter(({ name }) => WRITERS.includes(name));
  return {
    at: clock.now(),
    agent: agent.id,
    model: results.find(({ model }) => model !== '')?.model ?? '',
    prompts: Object.fromEntries(writers.map(({ name, hash }) => [name, hash])),
    tokens: results.reduce((sum, { tokens }) => sum + tokens, 0),
    scores: results.map(({ score }) => score),
  };
}

function keyOf(name: string): ConversationKey {
  return makeKey({ platform: 'eval', workspace: 'local', channel: name });
}

async function play(app: App, one: EvalCase) {
  const { store } = app.services;
  const key = keyOf(one.name);
  for (const [index, message] of one.messages.entries()) {
    await storeMessage(app, key, { ...message, id: `${index + 1}`, at: FIRST_AT + index * MINUTE_MS });
  }
  const conversation = await findConversation(app.services, key);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (!(await app.services.compact(conversation, null)).changed) break;
  }
  await app.services.extract(conversation);
  const runs = await store.journal.runs(conversation.id, MAX_RUNS);
  const score = scoreOf(one, await keptOf(app, conversation));
  await store.conversations.change(conversation.id, { kind: 'purge' });
  const tokens = runs.reduce((sum, run) => sum + run.inputTokens + run.outputTokens, 0);
  return { score, tokens, model: runs[0]?.model ?? '' };
}

async function keptOf({ services }: App, { id }: Conversation): Promise<Kept> {
  const { store } = services;
  const snapshot = await store.transcript.context(id, { maxEntries: 1 });
  if (snapshot === null) return { summaries: [], memories: [] };
  const reader = readerIn(snapshot.conversation, services);
  const memories = await store.memories.list({
    reader,
    states: ['active', 'candidate'],
    limit: MAX_MEMORIES,
    offset: 0,
  });
  const summaries = snapshot.stack.filter(({ kind }) => kind === 'summary');
  return { summaries: summaries.map(({ text }) => text), memories: memories.map(({ text }) => text) };
}

function report(run: EvalRun, before: EvalRun | null): string {
  const rows = run.scores.map((score) => {
    const last = before?.scores.find(({ name }) => name === score.name) ?? null;
    const cell = (now: number, then: number | undefined) => (then === undefined ? `${now}` : `${now} (${then})`);
    return [
      score.name,
      `${score.facts}`,
      cell(score.inSummaries, last?.inSummaries),
      cell(score.inMemories, last?.inMemories),
      cell(score.lost.length, last?.lost.length),
      cell(score.memories, last?.memories),
      cell(score.obeyed, last?.obeyed),
    ];
  });
  const table = formatTable(
    ['conversation', 'facts', 'in summaries', 'in memories', 'lost', 'memories', 'obeyed'],
    rows,
  );
  const lost = run.scores.flatMap(({ name, lost: facts }) => facts.map((fact) => `Lost in ${name}: ${fact}`));
  const head = `${run.agent}, ${run.model}: ${formatNumber(run.tokens)} tokens`;
  return `${[head, table, ...lost, ...changesSince(run, before)].join('\n')}\n`;
}

function changesSince(run: EvalRun, before: EvalRun | null): readonly string[] {
  if (before === null) return ['There is no earlier run to compare with.'];
  const names = WRITERS.filter((name) => run.prompts[name] !== before.prompts[name]);
  const model = run.model === before.model ? [] : [`the model (${before.model})`];
  const changed = [...model, ...names.map((name) => `the prompt ${name}`)];
  const since = changed.length === 0 ? 'nothing' : changed.join(', ');
  return [`In brackets: the last run (${formatNumber(before.tokens)} tokens). Changed since: ${since}.`];
}
