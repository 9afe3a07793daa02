import type { ModelRecord } from './model.ts';
import type { Message, PlatformRecord, Visible } from './platform.ts';
import type { Rows } from './rows.ts';
import { factsIn } from './talk.ts';

/** Everything known from outside: the store's rows, what the platform saw, and the model's requests and answers. */
export interface Evidence {
  readonly rows: Rows;
  readonly platform: PlatformRecord;
  readonly model: Pick<ModelRecord, 'summaries' | 'complaints'>;
}

export interface Damage {
  readonly invariant: string;
  readonly what: string;
}

type Conversation = Rows['conversations'][number];
type Summary = Rows['summaries'][number];

/** One conversation with what belongs to it. */
interface Place {
  readonly conversation: Conversation;
  readonly channel: string;
  readonly entries: Rows['entries'];
  readonly summaries: readonly Summary[];
  readonly memories: Rows['memories'];
  readonly outbox: Rows['outbox'];
}

/**
 * What must hold at every instant, whichever process was just killed. `accepted` are the messages that were
 * acknowledged before the rows were read.
 */
export function damageOf({ rows, platform, model }: Evidence, accepted: readonly Message[]): readonly Damage[] {
  return [
    ...lost(rows, accepted),
    ...placesOf(rows).flatMap((place) => [
      ...transcriptDamage(place, platform),
      ...stackDamage(place),
      ...commitDamage(place, model),
      ...memoryDamage(place),
    ]),
    ...postDamage(rows, platform),
    ...[...new Set(model.complaints)].map((complaint) => ({ invariant: complaint.slice(0, 2), what: complaint })),
  ];
}

/** The remaining work. Empty if nothing is left to do. */
export function owedOf({ rows, platform }: Evidence): readonly Damage[] {
  const messages = [...platform.messages.values()];
  const open = messages.filter(({ acceptedAt }) => acceptedAt === null);
  return [
    ...some('I1', open, (message) => `${message.id} was never acknowledged`),
    ...unanswered(rows, platform),
    ...placesOf(rows).flatMap(owedIn),
    ...rows.outbox
      .filter(({ state }) => state !== 'sent')
      .map(({ nonce, state }) => ({ invariant: 'I11', what: `post ${nonce} is ${state}` })),
  ];
}

/** Acknowledged messages that are missing everywhere. */
export function lost(rows: Rows, accepted: readonly Message[]): readonly Damage[] {
  const stored = new Set(rows.entries.map((entry) => entry.external_id));
  return accepted
    .filter(({ id }) => !stored.has(id))
    .map(({ id }) => ({ invariant: 'I1', what: `${id} was acknowledged and is lost` }));
}

/** Posts that people see twice: the same chunk of the same message under two nonces. */
export function doublePosts({ visible }: PlatformRecord): readonly (Visible & { readonly first: Visible })[] {
  const firsts = [...visible.values()].filter(({ replyTo }) => replyTo !== null);
  return [...Map.groupBy(firsts, ({ channel, replyTo }) => `${channel} ${replyTo}`).values()].flatMap(
    ([first, ...others]) => (first === undefined ? [] : others.map((other) => ({ ...other, first }))),
  );
}

function placesOf(rows: Rows): readonly Place[] {
  const by = <Row extends { readonly conversation_id: number }>(table: readonly Row[]) =>
    Map.groupBy(table, (row) => row.conversation_id);
  const [entries, summaries, memories, outbox] = [
    by(rows.entries),
    by(rows.summaries),
    by(rows.memories),
    by(rows.outbox),
  ];
  return rows.conversations.map((conversation) => ({
    conversation,
    channel: conversation.key.split(':').at(-1) ?? '',
    entries: entries.get(conversation.id) ?? [],
    summaries: summaries.get(conversation.id) ?? [],
    memories: memories.get(conversation.id) ?? [],
    outbox: outbox.get(conversation.id) ?? [],
  }));
}

/** I1, I3: entries without gaps and doubles, each with the text that was said. */
function transcriptDamage({ conversation, channel, entries }: Place, { messages }: PlatformRecord): readonly Damage[] {
  const damage: Damage[] = [];
  const at = (what: string, invariant = 'I1') => damage.push({ invariant, what: `${channel}: ${what}` });
  entries.forEach(({ seq }, index) => {
    if (seq !== index + 1) at(`entry ${index + 1} of the transcript has the number ${seq}`);
  });
  if (entries.length !== conversation.next_seq - 1)
    at(`${entries.length} entries, but the next number is ${conversation.next_seq}`, 'I3');
  const seen = new Set<string>();
  for (const { external_id: id, parts } of entries) {
    if (id === null) continue;
    if (seen.has(id)) at(`${id} is stored twice`);
    seen.add(id);
    const text = messages.get(id)?.text;
    if (text === undefined || !parts.includes(text)) at(`${id} does not have the text that was said`, 'I3');
  }
  return damage;
}

/** I2, I7: the live layers are adjacent, end where the tail starts, and split no tool call from its result. */
function stackDamage({ conversation, channel, summaries, entries }: Place): readonly Damage[] {
  const damage: Damage[] = [];
  let next = conversation.context_from;
  for (const layer of summaries.filter((summary) => summary.superseded_by === null)) {
    if (layer.from_seq > next)
      damage.push({ invariant: 'I2', what: `${channel}: a hole from #${next} to #${layer.from_seq - 1}` });
    if (layer.from_seq < next) damage.push({ invariant: 'I2', what: `${channel}: two layers over #${layer.from_seq}` });
    if (entries[layer.to_seq]?.role === 'tool')
      damage.push({
        invariant: 'I7',
        what: `${channel}: a layer ends between a call and its result at #${layer.to_seq}`,
      });
    next = layer.to_seq + 1;
  }
  if (next !== conversation.compacted_upto + 1) {
    damage.push({
      invariant: 'I2',
      what: `${channel}: the stack ends at #${next - 1}, the tail starts at #${conversation.compacted_upto + 1}`,
    });
  }
  return damage;
}

/** I4: every entry was summarised once, by a complete answer; a condensed summary covers exactly its parts. */
function commitDamage({ channel, summaries }: Place, { summaries: given }: Evidence['model']): readonly Damage[] {
  const damage: Damage[] = [];
  const texts = summaries.filter(({ kind }) => kind === 'summary');
  let next = 0;
  for (const summary of texts) {
    if (!given.has(summary.text))
      damage.push({
        invariant: 'I4',
        what: `${channel}: no model gave the summary of #${summary.from_seq} to #${summary.to_seq}`,
      });
    if (summary.level > 0) {
      const parts = summaries.filter((part) => part.superseded_by === summary.id);
      const ends = [Math.min(...parts.map((part) => part.from_seq)), Math.max(...parts.map((part) => part.to_seq))];
      if (ends[0] !== summary.from_seq || ends[1] !== summary.to_seq)
        damage.push({
          invariant: 'I4',
          what: `${channel}: a condensed summary of #${summary.from_seq} to #${summary.to_seq} has parts from #${ends[0]} to #${ends[1]}`,
        });
      continue;
    }
    if (summary.from_seq < next)
      damage.push({ invariant: 'I4', what: `${channel}: #${summary.from_seq} was summarised twice` });
    next = Math.max(next, summary.to_seq + 1);
  }
  return damage;
}

/** I8: each fact once, from the message that says it, and never ahead of the watermark that its commit moves. */
function memoryDamage({ conversation, channel, memories, entries }: Place): readonly Damage[] {
  const damage: Damage[] = [];
  const texts = new Map<string, string>();
  for (const { id, text, seq } of memories) {
    const known = texts.get(text);
    if (known !== undefined)
      damage.push({
        invariant: 'I8',
        what: `${channel}: "${text}" ${known === id ? 'rests on two messages' : 'is remembered twice'}`,
      });
    texts.set(text, id);
    if (!entries[seq - 1]?.parts.includes(text))
      damage.push({ invariant: 'I8', what: `${channel}: "${text}" is not what #${seq} says` });
    if (seq > conversation.extracted_upto)
      damage.push({ invariant: 'I4', what: `${channel}: a memory of #${seq} without the commit that reads it` });
  }
  return damage;
}

/** I11: every visible message is in the outbox, once, and in order within a reply. */
function postDamage(rows: Rows, platform: PlatformRecord): readonly Damage[] {
  const known = new Map(rows.outbox.map((row) => [row.nonce, row]));
  const visible = [...platform.visible.values()];
  const strangers = visible.filter(({ nonce }) => !known.has(nonce));
  return [
    ...some('I11', doublePosts(platform), (post) => {
      const each = [post.first, post].map((one) => origin(one, known.get(one.nonce)));
      return `${post.channel}: two replies to ${post.replyTo}: ${each.join('; ')}`;
    }),
    ...some('I11', platform.changed, (nonce) => `post ${nonce} came again with another text`),
    ...some('I11', strangers, ({ channel, nonce }) => `${channel}: post ${nonce} was never committed`),
  ];
}

function origin({ nonce, by, at }: Visible, row: Rows['outbox'][number] | undefined): string {
  return `${nonce} of the turn that read up to #${row?.turn}, by ${by} at ${new Date(at).toISOString()}`;
}

/** Every message that asks is covered by a turn whose reply people see; and named by it, unless the model gave no answer. */
function unanswered(rows: Rows, { messages, visible }: PlatformRecord): readonly Damage[] {
  const seen = new Map(
    rows.outbox.filter(({ nonce }) => visible.has(nonce)).map((row) => [`${row.conversation_id} ${row.turn}`, row]),
  );
  const damage: Damage[] = [];
  for (const { conversation, entries, channel } of placesOf(rows)) {
    const replies = entries.filter(({ role, turn }) => (role === 'assistant' || role === 'notice') && turn !== null);
    const posted = replies.filter(({ turn }) => seen.has(`${conversation.id} ${turn}`));
    for (const { external_id: id, seq } of entries) {
      const message = id === null ? undefined : messages.get(id);
      if (message === undefined || !message.asks) continue;
      const answer = posted.find(({ turn }) => (turn ?? 0) >= seq);
      if (answer === undefined) damage.push({ invariant: 'I1', what: `${channel}: ${id} asks and has no answer` });
      else if (
        message.answeredAt === null &&
        !posted.some(({ role, turn }) => role === 'notice' && (turn ?? 0) >= seq)
      ) {
        damage.push({ invariant: 'I2', what: `${channel}: ${id} asks and no reply has read it` });
      }
    }
  }
  return damage;
}

function owedIn({ conversation, channel, summaries, entries, memories }: Place): readonly Damage[] {
  const { answered_upto, reply_due_seq, extracted_upto, next_seq, failures } = conversation;
  const damage: Damage[] = [];
  const owes = (invariant: string, what: string) => damage.push({ invariant, what: `${channel}: ${what}` });
  if (answered_upto < reply_due_seq) owes('I1', 'a reply is owed');
  if (extracted_upto < next_seq - 1) owes('I8', `read for memories up to #${extracted_upto} of #${next_seq - 1}`);
  if (failures > 0) owes('I12', 'the last maintenance failed');
  if (summaries.some(({ kind, superseded_by }) => kind === 'gap' && superseded_by === null))
    owes('I2', 'a gap is not filled');
  const kept = new Set(memories.map(({ text }) => text));
  for (const { parts, role } of entries) {
    if (role !== 'user') continue;
    for (const { text } of factsIn(parts)) if (!kept.has(text)) owes('I8', `"${text}" is not remembered`);
  }
  return damage;
}

function some<Item>(invariant: string, items: readonly Item[], words: (item: Item) => string): readonly Damage[] {
  return items.map((item) => ({ invariant, what: words(item) }));
}
