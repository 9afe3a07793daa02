import { withQuestion } from '../../../src/context/preview.ts';
import { passagesFor } from '../../../src/search/passages/recall-passages.ts';
import { openWorld, type World } from '../memory/memory.world.ts';

const PADDING = 'Nothing else of note was said on this long and quiet afternoon by the harbour. '.repeat(60);

/** A conversation in which the lines were said beyond what the view shows. */
export async function remembering(lines: readonly string[]): Promise<World> {
  const world = await openWorld();
  for (const line of [...lines, PADDING]) await world.say(line);
  const { id, nextSeq } = await world.conversation();
  const gap = { id: world.random.id() as never, conversationId: id, expectedCompactedUpto: 0, toSeq: nextSeq - 1 };
  await world.store.summaries.openGap({ ...gap, now: world.time.now });
  return world;
}

/** The texts that the model would see beside the question. */
export async function quotedFor(world: World, text: string): Promise<readonly string[]> {
  const view = await world.store.transcript.context((await world.conversation()).id, { maxEntries: 100 });
  if (view === null) throw new Error('there is no conversation');
  const { snapshot, newest } = withQuestion(view, text, { now: world.time.now });
  const section = await passagesFor(world.services, { agent: world.agent, snapshot, waiting: [newest] });
  return (section?.passages ?? []).map((passage) => passage.text);
}
