import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification, type Vitest } from 'vitest/node';

/**
 * The slowest files, slowest first. Started at the beginning, none of them is left to run alone at the end. Vitest
 * remembers durations only from earlier runs; a clean checkout has none.
 */
export const LONGEST: readonly string[] = [
  'test/adapters/discord/answers.test.ts',
  'test/adapters/slack/post.test.ts',
  'test/adapters/slack/answers.test.ts',
  'test/e2e/slack.test.ts',
  'test/adapters/slack/connection.test.ts',
  'test/e2e/package.test.ts',
  'test/adapters/stores/postgres-server.test.ts',
  'test/faults/harness.test.ts',
  'test/e2e/processes.test.ts',
  'test/e2e/discord.test.ts',
  'test/faults/kill.test.ts',
  'test/e2e/cli.test.ts',
  'test/adapters/discord/connection.test.ts',
  'test/adapters/stores/postgres.test.ts',
  'test/adapters/slack/oauth.test.ts',
  'test/adapters/discord/gateway.test.ts',
  'test/examples.test.ts',
  'test/e2e/inspector-browser.test.ts',
  'test/faults/redis-outage.test.ts',
  'test/adapters/queues/bullmq.test.ts',
  'test/adapters/terminal/terminal.test.ts',
  'test/adapters/slack/live.test.ts',
  'test/e2e/create.test.ts',
  'test/adapters/queues/bullmq-kill.test.ts',
  'test/adapters/discord/post.test.ts',
  'test/e2e/inspector-charts.test.ts',
  'test/adapters/discord/catch-up.test.ts',
  'test/attacks/files.test.ts',
  'test/adapters/stores/sqlite-busy.test.ts',
  'test/e2e/cli-files.test.ts',
  'test/attacks/linear.test.ts',
  'test/e2e/streams.test.ts',
  'test/e2e/kept-memories.test.ts',
  'test/adapters/slack/catch-up.test.ts',
  'test/attacks/bytes-processes.test.ts',
  'test/e2e/small-windows.test.ts',
  'test/adapters/stores/postgres-outages.test.ts',
  'test/e2e/what-if.test.ts',
  'test/adapters/stores/sqlite.test.ts',
  'test/e2e/slack-workspaces.test.ts',
  'test/adapters/discord/receive.test.ts',
  'test/e2e/discord-stream.test.ts',
  'test/adapters/slack/receive.test.ts',
  'test/e2e/doctor.test.ts',
  'test/faults/send.test.ts',
  'test/adapters/channels/discord-slack-odd.test.ts',
  'test/core/properties/properties.test.ts',
  'test/adapters/stores/postgres-frozen.test.ts',
  'test/attacks/loop.test.ts',
  'test/attacks/slack-http.test.ts',
  'test/core/requests/why.test.ts',
  'test/e2e/odd-files.test.ts',
  'test/core/compaction/refusal.test.ts',
  'test/adapters/stores/kysely.test.ts',
  'test/e2e/slack-stream.test.ts',
  'test/core/context/long-conversation.test.ts',
  'test/core/compaction/call-budget.test.ts',
  'test/adapters/discord/commands.test.ts',
  'test/e2e/deploy.test.ts',
  'test/adapters/slack/lost-answers.test.ts',
  'test/e2e/uncaught.test.ts',
  'test/core/commands/commands.test.ts',
  'test/e2e/plugins.test.ts',
  'test/adapters/queues/queue-server.test.ts',
  'test/core/util/event-loop.test.ts',
  'test/adapters/slack/commands.test.ts',
  'test/e2e/leaving.test.ts',
  'test/e2e/library.test.ts',
  'test/adapters/slack/contract.test.ts',
  'test/adapters/stores/postgres-archive.test.ts',
  'test/adapters/queues/bullmq-outages.test.ts',
  'test/adapters/slack/channel-ids.test.ts',
  'test/e2e/backup.test.ts',
  'test/e2e/inspector-odd.test.ts',
  'test/core/compaction/failure.test.ts',
  'test/e2e/terminal.test.ts',
  'test/e2e/models-away.test.ts',
  'test/core/memory/many.test.ts',
  'test/e2e/inspector-history.test.ts',
  'test/adapters/stores/postgres-failures.test.ts',
  'test/e2e/prompts-eval.test.ts',
  'test/core/search/recall-languages.test.ts',
  'test/e2e/store-findings.test.ts',
  'test/adapters/queues/bullmq-stores.test.ts',
  'test/adapters/stores/sqlite-shared.test.ts',
  'test/attacks/linear-async.test.ts',
  'test/e2e/plugin-parts.test.ts',
  'test/core/compaction/crash.test.ts',
  'test/core/conversation/spawn-kill.test.ts',
  'test/core/conversation/refused-past.test.ts',
  'test/core/conversation/restarts.test.ts',
  'test/adapters/inspector/roles.test.ts',
  'test/adapters/inspector/odd.test.ts',
  'test/attacks/model.test.ts',
  'test/core/search/recall-silence.test.ts',
  'test/adapters/queues/bullmq-malformed.test.ts',
  'test/adapters/queues/local-queue.test.ts',
  'test/attacks/expressions.test.ts',
  'test/e2e/models-fallback.test.ts',
  'test/attacks/forgetting.test.ts',
  'test/core/conversation/sink.test.ts',
  'test/adapters/discord/odd.test.ts',
  'test/adapters/inspector/access.test.ts',
  'test/adapters/channels/other-bots.test.ts',
  'test/core/util/loop-watchdog.test.ts',
  'test/core/search/recall-share.test.ts',
  'test/adapters/inspector/conversation.test.ts',
  'test/skipped.test.ts',
];

export class LongestFirst extends BaseSequencer {
  readonly #root: string;

  constructor(vitest: Vitest) {
    super(vitest);
    this.#root = vitest.config.root;
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.indexOf(relative(this.#root, moduleId).replaceAll('\\', '/'));
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
