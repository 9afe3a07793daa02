import { evaluate } from '../../../src/context/fit/fit.ts';
import { readLink } from '../../../src/context/record/note-chain.ts';
import { type ChainLink, decodeNote, previousSeq } from '../../../src/context/record/note-codec.ts';
import { createRequestRecorder } from '../../../src/context/record/record-request.ts';
import { createFixedPrefixBuilder } from '../../../src/context/view/fixed-prefix.ts';
import type { Reduction } from '../../../src/context/view/reduce.ts';
import type { View, ViewRequest } from '../../../src/context/view/view.ts';
import { type RebuiltRequest, rebuildRequest } from '../../../src/requests/rebuild.ts';
import { randomOf, type Talk } from './why.world.ts';

/** A request as it was noted and sent, and as it was rebuilt from its note. */
export interface Variant {
  readonly sent: View;
  readonly rebuilt: View;
  readonly text: string;
}

const VARIANTS_OF_ONE = 10;

/**
 * Requests that might have been sent for random replies of a talk: shortened in random ways, with some of the layers,
 * messages and sections. They form a chain of notes, like those of one process.
 */
export async function* variantsOf(talk: Talk, { seed, count }: { readonly seed: number; readonly count: number }) {
  const { services } = talk.world.bot;
  const conversation = await talk.world.conversation();
  const random = randomOf(seed);
  const recorder = createRequestRecorder(services);
  const prefixes = createFixedPrefixBuilder(services);
  const log = services.store.journal.requests;
  let link: ChainLink | null = (await readLink(log, conversation.id, conversation.nextSeq))?.link ?? null;
  const replies = [...talk.sent.keys()];
  for (let made = 0; made < count; ) {
    const seq = replies[Math.floor(random() * replies.length)] ?? 0;
    const found = await readLink(log, conversation.id, seq);
    if (found === null) throw new Error(`Reply ${seq} has no note.`);
    const reply = { ...found.reply, request: found.link.note };
    const base = await rebuildRequest(services, { conversation, reply, reader: null });
    if (base === null) throw new Error(`The request of reply ${seq} cannot be rebuilt.`);
    for (let one = 0; one < VARIANTS_OF_ONE && made < count; one += 1, made += 1) {
      const request = requestLike(base, reply.turn, random);
      const fitted = evaluate(prefixes, request, randomReduction(random));
      const preparedAt = base.note.minute * 60_000;
      const place = { turn: request.readUpto, at: preparedAt + Math.floor(random() * 100_000) };
      const sent = { fitted, sent: fitted.view, preparedAt, model: null, isAltered: false, ...place };
      const { record, committed } = await recorder.record(sent);
      const text: string = record.note;
      link = { seq: place.turn + 1, ...decodeNote(text, place, previousSeq(text, place.turn) === null ? null : link) };
      committed(link.seq);
      const noted = { ...reply, turn: request.readUpto, request: link.note };
      const again = await rebuildRequest(services, { conversation, reply: noted, reader: null });
      if (again === null) throw new Error(`The note ${text} cannot be read.`);
      yield { sent: fitted.view, rebuilt: again.fitted.view, text } satisfies Variant;
    }
  }
}

function requestLike({ fitted }: RebuiltRequest, turn: number, random: () => number): ViewRequest {
  const { request } = fitted;
  const some = <Item>(items: readonly Item[], share: number) => items.filter(() => random() < share);
  const { snapshot } = request;
  const asked = snapshot.tail.filter(({ role, seq }) => role === 'user' && seq <= turn);
  const readUpto = random() < 0.7 ? turn : (asked[Math.floor(random() * asked.length)]?.seq ?? turn);
  const omitted = random() < 0.3 ? Math.floor(random() * 50) : 0;
  const { replySeq: _replySeq, ...rest } = request;
  return {
    ...rest,
    snapshot: {
      ...snapshot,
      stack: some(snapshot.stack, random() < 0.5 ? 1 : 0.7),
      tail: random() < 0.5 ? snapshot.tail : snapshot.tail.slice(Math.floor(random() * snapshot.tail.length)),
      omitted: { entries: omitted, tokens: 0 },
    },
    readUpto,
    volatile: some(request.volatile, random() < 0.5 ? 1 : 0.6),
  };
}

function randomReduction(random: () => number): Reduction {
  const maybe = <Value>(value: Value, otherwise: Value) => (random() < 0.3 ? value : otherwise);
  const limit = () => maybe(Math.floor(10 + random() * 200), Number.POSITIVE_INFINITY);
  return {
    stubs: maybe('all', maybe('old', 'none')),
    textTokens: limit(),
    askTokens: limit(),
    images: random() < 0.8,
    volatileTokens: maybe(Math.floor(random() * 300), Number.POSITIVE_INFINITY),
    droppedStackShare: maybe(0.5, 0),
    droppedTailShare: maybe(0.5, 0),
    fixedShare: maybe(0.5, 1),
  };
}
