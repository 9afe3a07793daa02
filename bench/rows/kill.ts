import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createWords } from '../words.ts';

const CHILD = new URL('../children/serve.process.ts', import.meta.url);
const CONVERSATIONS = 6;
const PACE_MS = 10;
const SETTLE_MS = 20_000;

const postSchema = z.object({ conversation: z.string(), nonce: z.string(), replyTo: z.string().nullable() });
const reportSchema = z.union([z.object({ accepted: z.string() }), z.object({ pending: z.boolean() })]);

export interface KillOutcome {
  readonly kills: number;
  readonly accepted: number;
  readonly lost: number;
  /** Posts that were sent again after a restart, with the nonce by which the platform recognises them. */
  readonly repeated: number;
}

interface Sent {
  readonly conversation: number;
  readonly number: number;
}

/**
 * Messages keep coming while the process is killed repeatedly, each time with a summary pending. Like a platform, this
 * side resends messages that were not acknowledged, and keeps one post per nonce.
 */
export async function killRun(size: { readonly kills: number; readonly messages: number }): Promise<KillOutcome> {
  const directory = mkdtempSync(join(tmpdir(), 'strata-kill-'));
  const platform = join(directory, 'posts.jsonl');
  const unacknowledged = new Map<string, Sent>();
  const words = createWords(3);
  let sent = 0;
  try {
    for (let life = 0; life <= size.kills; life += 1) {
      const child = await startChild({ directory, platform, onAccepted: (id) => unacknowledged.delete(id) });
      for (const [id, message] of unacknowledged) child.send(id, message, words.text(60));
      const isLast = life === size.kills;
      const enough = Math.floor((size.messages * (life + 1)) / (size.kills + 1));
      // A kill counts if it interrupts something, so it waits for a pending summary.
      while (sent < enough || (!isLast && !child.pending())) {
        const message = { conversation: sent % CONVERSATIONS, number: Math.floor(sent / CONVERSATIONS) };
        const id = `${message.conversation}:${message.number}`;
        unacknowledged.set(id, message);
        child.send(id, message, words.text(60));
        sent += 1;
        await delay(PACE_MS);
      }
      if (isLast) await settle(() => unacknowledged.size === 0 && unanswered(platform, sent) === 0);
      await child.kill();
    }
    return { kills: size.kills, accepted: sent, lost: unanswered(platform, sent), repeated: repeatedPosts(platform) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startChild(options: {
  readonly directory: string;
  readonly platform: string;
  readonly onAccepted: (id: string) => void;
}) {
  const process: ChildProcess = fork(CHILD, [options.directory, options.platform]);
  let isPending = false;
  const isReady = once(process, 'message');
  process.on('message', (raw) => {
    const report = reportSchema.safeParse(raw);
    if (!report.success) return;
    if ('accepted' in report.data) options.onAccepted(report.data.accepted);
    else isPending = report.data.pending;
  });
  await isReady;
  return {
    pending: () => isPending,
    send: (id: string, message: Sent, text: string) => void process.send({ id, ...message, text }),
    async kill() {
      const ended = once(process, 'exit');
      process.kill('SIGKILL');
      await ended;
    },
  };
}

async function settle(done: () => boolean): Promise<void> {
  const endAt = Date.now() + SETTLE_MS;
  while (!done() && Date.now() < endAt) await delay(50);
}

function readPosts(platform: string): readonly z.infer<typeof postSchema>[] {
  if (!existsSync(platform)) return [];
  const lines = readFileSync(platform, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => postSchema.parse(JSON.parse(line)));
}

/** A post answers its message and all earlier waiting ones of the conversation. */
function unanswered(platform: string, sent: number): number {
  const answered = new Set<string>();
  for (const { replyTo } of readPosts(platform)) {
    const [conversation, number] = (replyTo ?? '').split(':').map(Number);
    for (let below = number ?? -1; below >= 0; below -= 1) answered.add(`${conversation}:${below}`);
  }
  return sent - answered.size;
}

function repeatedPosts(platform: string): number {
  const posts = readPosts(platform);
  return posts.length - new Set(posts.map((post) => post.nonce)).size;
}
