import { describe, expect, it } from 'vitest';
import { damageOf, doublePosts, type Evidence, lost, owedOf } from './harness/damage.ts';
import type { Message, Visible } from './harness/platform.ts';
import { sayingOf } from './harness/talk.ts';

/**
 * Each check of the fault harness finds the damage it is given, and finds nothing where there is none.
 */

function message(number: number, asks = true): Message {
  const { name: id, place, text } = sayingOf(1, number);
  return { id, place, text, asks, sentAt: 0, acceptedAt: 1, answeredAt: 2, deliveredAt: 1, deliveries: 1 };
}

const SUMMARIES = ['Of #1 to #2.', 'Of #3 to #4.', 'Of #1 to #4.'];

/** Four messages, two replies, two summaries and one over both, and one memory: everything as it should be. */
function sound() {
  const messages = [1, 2, 3, 4].map((number) => message(number));
  const said = (seq: number) => messages[seq - 1]?.text ?? '';
  const entry = (seq: number) => ({
    conversation_id: 1,
    seq,
    external_id: `c1m${seq}`,
    role: 'user',
    turn: null as number | null,
    parts: JSON.stringify([{ kind: 'text', text: said(seq) }]),
  });
  const reply = { ...entry(5), external_id: null, role: 'assistant', turn: 4, parts: 'Answer' };
  const layer = (of: { id: string; level: number; from: number; to: number; text: string; by?: string }) => ({
    id: of.id,
    conversation_id: 1,
    kind: 'summary',
    level: of.level,
    from_seq: of.from,
    to_seq: of.to,
    text: of.text,
    superseded_by: of.by ?? null,
  });
  const rows = {
    conversations: [
      {
        id: 1,
        key: 'scripted:town:c1',
        next_seq: 6,
        compacted_upto: 4,
        context_from: 1,
        extracted_upto: 5,
        reply_due_seq: 4,
        answered_upto: 4,
        reply_epoch: 1,
        reply_until: null,
        failures: 0,
        maintenance_epoch: 1,
        maintenance_until: null,
      },
    ],
    entries: [entry(1), entry(2), entry(3), entry(4), reply],
    summaries: [
      layer({ id: 'a', level: 0, from: 1, to: 2, text: 'Of #1 to #2.', by: 'c' }),
      layer({ id: 'c', level: 1, from: 1, to: 4, text: 'Of #1 to #4.' }),
      layer({ id: 'b', level: 0, from: 3, to: 4, text: 'Of #3 to #4.', by: 'c' }),
    ],
    memories: [{ id: 'm', text: 'My parcel 100003 is at the post office.', conversation_id: 1, seq: 3 }],
    outbox: [{ conversation_id: 1, nonce: 'n1', state: 'sent', turn: 4, chunk: 0 }],
  };
  const post: Visible = {
    nonce: 'n1',
    channel: 'c1',
    text: 'Answer to c1m4.',
    replyTo: 'c1m4',
    by: 'gateway 1',
    at: 1500,
  };
  return {
    rows,
    platform: {
      messages: new Map(messages.map((one) => [one.id, one])),
      visible: new Map([['n1', post]]),
      changed: [] as string[],
      recognised: 0,
      redelivered: 0,
    },
    model: { summaries: new Set(SUMMARIES), complaints: [] as string[] },
  };
}

type World = ReturnType<typeof sound>;

const accepted = ({ platform }: Evidence) => [...platform.messages.values()];

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items.at(index);
  if (item === undefined) throw new Error(`The world has no item ${index}.`);
  return item;
}

const always: readonly (readonly [string, string, (world: World) => void])[] = [
  [
    'a message that was acknowledged and is lost',
    'I1',
    ({ rows }) => Object.assign(at(rows.entries, 1), { external_id: null }),
  ],
  [
    'a message that is stored twice',
    'I1',
    ({ rows }) => Object.assign(at(rows.entries, 1), at(rows.entries, 0), { seq: 2 }),
  ],
  ['a gap in the numbers of the transcript', 'I1', ({ rows }) => rows.entries.splice(1, 1)],
  ['an entry that vanished from the end', 'I3', ({ rows }) => rows.entries.pop()],
  ['a message with another text', 'I3', ({ rows }) => Object.assign(at(rows.entries, 0), { parts: 'c1m1 something' })],
  ['a hole in the stack', 'I2', ({ rows }) => Object.assign(at(rows.conversations, 0), { context_from: 0 })],
  ['two layers over one entry', 'I2', ({ rows }) => Object.assign(at(rows.summaries, 2), { superseded_by: null })],
  [
    'a tail that does not begin where the stack ends',
    'I2',
    ({ rows }) => Object.assign(at(rows.conversations, 0), { compacted_upto: 3 }),
  ],
  [
    'a layer that parts a call from its result',
    'I7',
    ({ rows }) => Object.assign(at(rows.entries, 4), { role: 'tool' }),
  ],
  ['an entry that was summarised twice', 'I4', ({ rows }) => Object.assign(at(rows.summaries, 2), { from_seq: 2 })],
  ['a summary that no model gave whole', 'I4', ({ rows }) => Object.assign(at(rows.summaries, 1), { text: 'Of #1' })],
  [
    'a condensed summary without one of its parts',
    'I4',
    ({ rows }) => Object.assign(at(rows.summaries, 2), { superseded_by: 'x' }),
  ],
  ['a fact that is remembered twice', 'I8', ({ rows }) => rows.memories.push({ ...at(rows.memories, 0), id: 'm2' })],
  ['a memory of what nobody said', 'I8', ({ rows }) => Object.assign(at(rows.memories, 0), { seq: 2 })],
  ['a memory ahead of its commit', 'I4', ({ rows }) => Object.assign(at(rows.conversations, 0), { extracted_upto: 2 })],
  ['two replies to one message', 'I11', (world) => secondPost(world, { replyTo: 'c1m4' })],
  ['a post that was never committed', 'I11', ({ rows }) => rows.outbox.pop()],
  ['a post that came again with another text', 'I11', ({ platform }) => platform.changed.push('n1')],
  [
    'a request that parts a call from its result',
    'I7',
    ({ model }) => model.complaints.push('I7: a call has no result'),
  ],
];

function secondPost({ platform, rows }: World, post: Partial<Visible>): void {
  const nonce = post.nonce ?? 'n2';
  platform.visible.set(nonce, { ...at([...platform.visible.values()], 0), ...post, nonce });
  rows.outbox.push({ ...at(rows.outbox, 0), nonce });
}

const atTheEnd: readonly (readonly [string, string, (world: World) => void])[] = [
  [
    'a message that was never acknowledged',
    'I1',
    ({ platform }) => Object.assign(at([...platform.messages.values()], 0), { acceptedAt: null }),
  ],
  ['a message that asks and has no answer', 'I1', ({ platform }) => platform.visible.clear()],
  [
    'a message that no reply has read',
    'I2',
    ({ platform }) => Object.assign(at([...platform.messages.values()], 2), { answeredAt: null }),
  ],
  ['a reply that is owed', 'I1', ({ rows }) => Object.assign(at(rows.conversations, 0), { answered_upto: 3 })],
  ['a post that is not sent', 'I11', ({ rows }) => Object.assign(at(rows.outbox, 0), { state: 'pending' })],
  [
    'a tail that was not read for memories',
    'I8',
    ({ rows }) => Object.assign(at(rows.conversations, 0), { extracted_upto: 4 }),
  ],
  ['a fact that is not remembered', 'I8', ({ rows }) => rows.memories.pop()],
  ['a gap that is not filled', 'I2', ({ rows }) => Object.assign(at(rows.summaries, 1), { kind: 'gap' })],
  ['maintenance that failed', 'I12', ({ rows }) => Object.assign(at(rows.conversations, 0), { failures: 1 })],
];

describe('the checks of the fault harness', () => {
  it('find nothing in a sound world', () => {
    const world = sound();
    expect([...damageOf(world, accepted(world)), ...owedOf(world)]).toEqual([]);
  });

  it.each(always)('find %s, whenever they look', (_what, invariant, hurt) => {
    const world = sound();
    hurt(world);
    expect(damageOf(world, accepted(world)).map((damage) => damage.invariant)).toContain(invariant);
  });

  it.each(atTheEnd)('find %s at the end', (_what, invariant, hurt) => {
    const world = sound();
    hurt(world);
    expect(owedOf(world).map((damage) => damage.invariant)).toContain(invariant);
  });

  it('name the turns and gateways of two replies', () => {
    const world = sound();
    secondPost(world, { replyTo: 'c1m4', by: 'gateway 2', at: 2500 });
    expect(damageOf(world, accepted(world)).map(({ what }) => what)).toEqual([
      'c1: two replies to c1m4: n1 of the turn that read up to #4, by gateway 1 at 1970-01-01T00:00:01.500Z; ' +
        'n2 of the turn that read up to #4, by gateway 2 at 1970-01-01T00:00:02.500Z',
    ]);
  });

  it('count lost messages and double posts', () => {
    const world = sound();
    world.rows.entries.splice(0, 2);
    secondPost(world, { replyTo: 'c1m4' });
    secondPost(world, { nonce: 'n3', replyTo: null });
    expect(lost(world.rows, accepted(world))).toHaveLength(2);
    expect(doublePosts(world.platform)).toHaveLength(1);
  });
});
