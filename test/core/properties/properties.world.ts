import { z } from 'zod';
import { type CompactionCommit, defineTool, type Storage, type StrataEvent } from '../../../src/adapter-kit.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';
import { act, finish, resumeAll } from './actions.world.ts';
import { createScripts } from './model.world.ts';
import { createOracle } from './oracle.world.ts';
import type { Step } from './steps.world.ts';
import { createStory, IDLE_MINUTES, padding, type Story, SUMMARISER_WINDOW, WINDOW } from './story.world.ts';

/**
 * A complete bot under random steps. Every message, reply and tool result starts with a unique word, so that a request
 * shows what it contains and how often. Every fact is a word that summaries and memories can carry over.
 */
export interface Player extends AsyncDisposable {
  act(step: Step): Promise<void>;
  /** What must hold at any time. */
  check(): Promise<void>;
  /** Everything works again: postponed work is done, and every message is answered, covered and remembered. */
  finish(): Promise<void>;
  /** Stops the bot and searches its files for forgotten text. */
  bury(): Promise<void>;
}

export interface PlayOptions {
  /** The provider counts this many tokens for each estimated one. Default 1. */
  readonly ratio?: number;
}

const look = defineTool({
  name: 'look',
  description: 'Looks something up',
  input: z.object({ canary: z.string(), size: z.enum(['short', 'medium', 'cjk', 'emoji', 'huge']) }),
  run: async ({ canary, size }) => `${canary} ${padding(size)}`,
});

/** The bot, the steps applied to it, and what must hold after each step. */
export async function createPlayer({ ratio = 1 }: PlayOptions = {}): Promise<Player> {
  const story = createStory(ratio);
  const oracle = createOracle(story, () => world);
  const { reply, summarise } = createScripts({ story, oracle, world: () => world });
  const world = await createBotWorld({
    models: [
      scriptedModel(reply, { id: 'test:chat', window: WINDOW }),
      scriptedModel(summarise, { id: 'test:summariser', window: SUMMARISER_WINDOW }),
    ],
    agent: {
      tools: ['look', 'memory_recall'],
      mode: 'mention',
      compaction: { model: 'test:summariser', idle_minutes: IDLE_MINUTES },
    },
    tools: [look],
    onEvent: (event) => follow(event, story),
    storage: (storage) => recording(storage, story.commits),
  });
  const stage = { story, world, oracle };
  return {
    act: (step) => act(step, stage),
    check: () => oracle.check(),
    finish: () => finish(stage),
    async bury() {
      resumeAll(story);
      await world.bot.stop({ deadlineMs: 20 });
      await oracle.checkFiles();
    },
    async [Symbol.asyncDispose]() {
      resumeAll(story);
      await world[Symbol.asyncDispose]();
    },
  };
}

function follow(event: StrataEvent, story: Story): void {
  if (event.kind === 'error.internal') story.violations.push(`internal: ${event.message}`);
  if (event.kind === 'turn.started') {
    story.serial += 1;
    story.turn = { readUpto: event.readUpto, results: [], step: 0, serial: story.serial };
  }
  if (event.kind === 'maintenance.started') {
    story.serial += 1;
    story.work = { serial: story.serial, before: story.work.serial };
  }
}

/** Keeps the committed append, so that it can be delivered once more. */
function recording(storage: Storage, commits: CompactionCommit[]): Storage {
  const { summaries } = storage.store;
  const commitCompaction: typeof summaries.commitCompaction = async (commit) => {
    const result = await summaries.commitCompaction(commit);
    if (result === 'committed') commits.push(commit);
    return result;
  };
  return { ...storage, store: { ...storage.store, summaries: { ...summaries, commitCompaction } } };
}
