import { Command } from 'commander';
import { ZodString, z } from 'zod';
import { messageSchema as discordMessage } from '../../adapters/channels/discord/wire.ts';
import type { Cutting } from '../../adapters/channels/slack/outbound/list-parts.ts';
import { messageSchema as slackMessage } from '../../adapters/channels/slack/wire.ts';
import { says, windows } from '../../adapters/models/ai-sdk/failures/phrases.ts';
import { english } from '../../adapters/models/offline/voice/voice-english.ts';
import { indexTexts } from '../../adapters/stores/sqlite/few-memories.ts';
import type { Entry, MemoryId } from '../../src/adapter-kit.ts';
import { builtInSpecs } from '../../src/commands/built-in/built-in-commands.ts';
import { writtenNamesIn } from '../../src/memory/people/written-names.ts';
import { createState } from '../../src/models/spoken/state.ts';
import { readSaid } from '../../src/search/ranking/line-features.ts';
import { accountFor } from '../../src/search/specifics/losses.ts';

type Run = (...values: readonly unknown[]) => unknown;
type Call = (run: Run, text: string) => unknown;

type Cut = Parameters<Cutting['nextCut']>[1];

const MEMORY = 'm' as MemoryId;
const spec = {
  name: 'roll_dice',
  description: 'Rolls dice',
  inputSchema: {
    type: 'object',
    properties: { note: { type: 'string' }, sides: { type: 'integer' } },
    required: ['note'],
  },
};
const speaker = { label: 'Ada', name: 'Ada' };
const view = (newest: string) => ({
  asker: 'Ada',
  name: 'Ada',
  newest,
  calls: [],
  clock: '2026-11-20 10:00',
  statements: [{ text: newest, source: 'message', author: 'Ada', when: '', place: 1 }],
});
const answerOf = (text: string) => ({
  title: text,
  tone: 'info',
  ephemeral: true,
  page: null,
  file: null,
  actions: [],
  text,
  fields: [{ name: text, value: text }],
  rows: { columns: ['WHAT'], cells: [[text]] },
});
const entry = (text: string): Entry => ({
  seq: 1,
  externalId: 'm1',
  role: 'user',
  turn: null,
  replyTo: null,
  mentions: [],
  tokens: 10,
  at: 0,
  author: { id: 'u1', name: 'Ada', kind: 'person' },
  parts: [{ kind: 'text', text }],
  editedAt: null,
  redactedAt: null,
  wantsReply: false,
});
const found = { conversation: 'test:here:talk', id: 'm1' };
const replyView = (text: string) => ({
  explained: {
    conversation: 'test:here:talk',
    seq: 2,
    turn: 1,
    at: 0,
    agentId: 'main',
    modelId: 'test:chat',
    tokens: 1,
    windowTokens: 100,
    previousSeq: null,
    request: { system: [text], messages: [], tools: [] },
    blocks: [{ kind: 'message', key: '#1', tokens: 1, source: 'transcript', reason: text, text, gone: null }],
  },
  exactness: text,
  diff: null,
  text,
  outputTokens: 1,
  choices: null,
});
const toolResult = (text: string) => ({ callId: 'c1', tool: 'roll_dice', text, isError: false });
/** Calls the test that a function made of a text. */
const isFoundBy = (test: unknown, ...values: readonly unknown[]) => typeof test === 'function' && test(...values);
const noNames = { user: () => null, channel: () => null, role: () => null };
const discordContext = {
  conversation: 'discord:g:c',
  names: noNames,
  self: { userId: '9', roleIds: [] },
  imageBytes: 0,
  isPast: false,
  place: { audience: 'public' },
};
const slackContext = {
  conversation: 'slack:T1:C1',
  names: noNames,
  self: { userId: 'U9', botId: 'B9' },
  isPast: false,
  isFollowUp: false,
  attachments: [],
  notes: [],
  fileTexts: [],
  author: { id: 'U1', name: 'Ada', kind: 'person' },
  place: { audience: 'public' },
};
const discordSaid = (content: string) =>
  discordMessage.parse({
    id: '1',
    channel_id: '2',
    content,
    timestamp: '2026-11-20T10:00:00Z',
    author: { id: '3', username: content },
  });
const slackSaid = (text: string) => slackMessage.parse({ ts: '1.0', user: 'U1', text });
const audited = (text: string) => ({ text, finish: 'stop', tokens: 1, limitTokens: 10, prompt: text, nonce: 'nonce' });

const OFFLINE = 'adapters/models/offline';
const DISCORD = 'adapters/channels/discord';
const SLACK = 'adapters/channels/slack';

/**
 * How to call the functions that take more than plain values, by `path#name`. This includes functions that take a
 * message, an entry or another shape containing text.
 */
export const CALLS: ReadonlyMap<string, Call> = new Map<string, Call>([
  [
    'src/config/key-check.ts#checkUsualKeys',
    (run, text) => run({ A_API_KEY: text }, { report: { addAt: () => undefined }, providers: ['a'] }),
  ],
  [
    'src/config/toml/toml-hint.ts#tomlHint',
    (run, text) => run(`a = ${text}`, { reason: 'invalid value', line: 1, column: 5 }),
  ],
  ['src/bot/cut-text.ts#cutParts', (run, text) => run([{ kind: 'text', text }])],
  [
    'src/conversation/turn/loop/own-label.ts#createDraft',
    (run, text) => {
      const draft = run();
      let soFar = '';
      for (const added of text) {
        soFar += added;
        if (typeof draft === 'function') draft(soFar, added);
      }
    },
  ],
  ['src/models/call-name.ts#offeredName', (run, text) => run(text, [{ name: text }, { name: 'roll_dice' }])],
  ['src/models/spoken/state.ts#say', (run, text) => run(createState(), text)],
  ['src/models/spoken/state.ts#restart', (run, text) => run(createState(), text)],
  ['src/models/spoken/state.ts#saysMark', (run, text) => run(createState(), text, text)],
  [
    'adapters/channels/shared/forms.ts#completed',
    (run, text) => run({ path: [text], options: { text } }, { [text]: text }),
  ],
  [
    'adapters/channels/shared/message-menus.ts#rememberCommand',
    (run, text) => run({ author: { id: text, name: text, kind: 'bot' }, text }, 'u1'),
  ],
  ['adapters/channels/shared/encryption.ts#encrypt', (run, text) => run(text, { key: Buffer.alloc(32), owner: text })],
  ['adapters/channels/shared/encryption.ts#decrypt', (run, text) => run(text, { key: Buffer.alloc(32), owner: text })],
  ['adapters/channels/shared/downloads.ts#hasTextEnding', (run, text) => run(text)],
  ['adapters/channels/shared/downloads.ts#isTrusted', (run, text) => run(text, { own: [text], extra: text })],
  [
    'src/conversation/posts/unasked-posts.ts#unaskedPosts',
    (run, text) => run([{ kind: 'text', text }], { id: text, replyTo: text, now: 0 }),
  ],
  [`${DISCORD}/map.ts#toInbound`, (run, text) => run(discordSaid(text), discordContext)],
  [`${DISCORD}/commands/membership.ts#mayRead`, (run, text) => run(text, 1n)],
  [`${DISCORD}/map.ts#toParts`, (run, text) => run(discordSaid(text), discordContext)],
  [`${DISCORD}/map.ts#readable`, (run, text) => run(text, [], noNames)],
  [
    `${DISCORD}/map.ts#authorOf`,
    (run, text) => run({ id: '1', username: text, global_name: text }, { nick: text }, null),
  ],
  [`${DISCORD}/attachment.ts#toAttachment`, (run, text) => run({ id: '1', filename: text, size: 1, url: text }, text)],
  [
    `${SLACK}/commands/render.ts#toMessage`,
    (run, text) => run(answerOf(text), { sign: () => 'signed', specs: builtInSpecs, prefix: '/strata ' }),
  ],
  [`${SLACK}/commands/form.ts#previewForm`, (run, text) => run({}, { title: text, submit: text, blocks: [] })],
  [`${DISCORD}/outbound/blocks.ts#ownMarker`, (run, text) => run([], { text, at: text.length })],
  [`${DISCORD}/outbound/post.ts#fileOf`, (run, text) => run({ name: 'reply.md', text })],
  [`${DISCORD}/outbound/split.ts#split`, (run, text) => run(text, { limit: 2000, fileAbove: 6 })],
  ['adapters/channels/shared/units.ts#unitsOf', (run, text) => run(text, { bold: true, mentions: true })],
  [
    `${SLACK}/outbound/list-parts.ts#listParts`,
    (run, text) => run(text, { limit: 3500, nextCut: (_text: string, cut: Cut) => cut.from + cut.limit }),
  ],
  [`${SLACK}/map.ts#toInbound`, (run, text) => run(slackSaid(text), slackContext)],
  [`${SLACK}/map.ts#toParts`, (run, text) => run(slackSaid(text), slackContext)],
  [`${SLACK}/inbound/files.ts#withFileNames`, (run, text) => run(text, { files: [{ id: '1', name: text }] })],
  [`${SLACK}/text.ts#readable`, (run, text) => run(text, noNames)],
  [`${SLACK}/text.ts#readableTyped`, (run, text) => run(text, noNames)],
  ['adapters/channels/terminal/style.ts#speaker', (run, text) => run(text, { color: true })],
  [
    'adapters/logs/pino/readable.ts#readableLine',
    (run, text) => run(JSON.stringify({ message: text, level: 'info', text }), { color: false }),
  ],
  [
    'adapters/models/ai-sdk/failures/classify.ts#classify',
    (run, text) => run(new Error(text), 0, [text.slice(0, 100)]),
  ],
  ['adapters/models/ai-sdk/failures/phrases.ts#says', (_run, text) => says(text, windows)],
  [
    'adapters/models/ai-sdk/providers/request-changes.ts#lowered',
    (run, text) => run({ messages: [], [text]: 9 }, text, 1),
  ],
  [
    'adapters/models/ai-sdk/wire/response.ts#reshaped',
    (run, text) => run(`data: ${JSON.stringify({ text })}`, z.json()),
  ],
  ['adapters/models/ai-sdk/failures/retry-after.ts#retryAfterMs', (run, text) => run({ headers: {}, text }, 0)],
  ['adapters/models/ai-sdk/calls/kept.ts#renamed', (run, text) => run({ id: text, text }, new Map([[text, text]]))],
  [
    'adapters/models/ai-sdk/calls/kept.ts#withoutReasoning',
    (run, text) => run({ messages: [{ role: 'assistant', text, calls: [], reasoning: text }] }),
  ],
  ['adapters/models/ai-sdk/calls/written-calls.ts#writtenCalls', (run, text) => run(text, [{ name: text }])],
  [`${OFFLINE}/talk/acknowledge.ts#acknowledge`, (run, text) => run(text, view(text), english)],
  [`${OFFLINE}/findings/findings.ts#findingsIn`, (run, text) => run(text, speaker, '2026-11-20')],
  [`${OFFLINE}/findings/findings.ts#notedName`, (run, text) => run('Ada', [text])],
  [`${OFFLINE}/talk/recall.ts#findAnswers`, (run, text) => run(text, view(text))],
  [`${OFFLINE}/tool-fields.ts#fieldsFor`, (run, text) => run(spec, { note: text })],
  [`${OFFLINE}/tools/tool-input.ts#inputFrom`, (run, text) => run(spec, text)],
  [`${OFFLINE}/tools/tools.ts#callAbout`, (run, text) => run(spec, text, text)],
  [`${OFFLINE}/text/words.ts#pick`, (run, text) => run(['one', 'two'], text)],
  [
    'adapters/stores/sqlite/few-memories.ts#weighTexts',
    (run, text) => run(indexTexts([{ id: MEMORY, text }]), ['word', text]),
  ],
  ['adapters/stores/sql/forgetting/struck.ts#replaceIn', (run, text) => run([{ kind: 'text', text }], 'word', 'mark')],
  [
    'src/commands/lines/parse.ts#formatCommand',
    (run, text) => run({ path: ['memory', 'remember'], options: { text } }, builtInSpecs),
  ],
  ['src/commands/lines/parse.ts#parseCommandLine', (run, text) => run(`/memory remember ${text}`, builtInSpecs)],
  [
    'src/commands/lines/parse.ts#readCommandLine',
    (run, text) => run(`/memory remember ${text}`, { specs: builtInSpecs }),
  ],
  ['src/compaction/answer/audit.ts#faultOf', (run, text) => run(audited(text))],
  ['src/compaction/answer/candidate-shape.ts#named', (run, text) => run(`{"text": ${text}`, { text: ['text'] })],
  ['src/compaction/answer/content-audit.ts#contentFault', (run, text) => run(text, `${text} now`, 'last')],
  ['src/compaction/answer/sections.ts#sectionsText', (run, text) => run([['goal', [text, text]]])],
  ['src/compaction/job/span.ts#headSpan', (run, text) => run([entry(text)], 1000, 'UTC')],
  ['src/compaction/job/transcript-line.ts#hasLine', (run, text) => run(entry(text), 'UTC')],
  ['src/domain/key.ts#makeChildKey', (run, text) => run('a:b:c', text)],
  [
    'src/config/shapes.ts#urlOrNothing',
    (run, text) => {
      const schema = run(/^redis:\/\/\S+$/u, 'expected a URL');
      return schema instanceof ZodString && schema.safeParse(`redis://${text}`);
    },
  ],
  ['src/context/view/layers.ts#makeLayer', (run, text) => run({}, text)],
  [
    'src/context/record/note-codec.ts#decodeNote',
    (run, text) => run(`=${text} n${text} s${text} l${text}`, { at: 0 }, null),
  ],
  ['src/context/record/note-fields.ts#readLayers', (run, text) => run(text, [])],
  ['src/context/record/note-fields.ts#readSections', (run, text) => run(text, { base: { sections: [] }, names: [] })],
  [
    'src/conversation/turn/incomplete.ts#withCutNote',
    (run, text) => {
      const services = { agents: { agentFor: () => ({}) }, prompts: { render: () => ({ text: 'It is cut.' }) } };
      return run(services, { key: 'test:here:talk' }, { text, cut: 'length' });
    },
  ],
  ['src/memory/recall/focus.ts#quoteSection', (run, text) => run(entry(text), 'UTC')],
  [
    'src/memory/recall/recall.ts#memoryItem',
    (run, text) => run({ id: text, text, subjectName: text, validFrom: 0 }, 'UTC'),
  ],
  [
    'src/requests/changed.ts#applyChange',
    (run, text) => run({ system: [], messages: [] }, JSON.stringify({ system: [{ text, cacheBreak: false }] })),
  ],
  ['src/search/passages/place-passages.ts#passageTextElsewhere', (run, text) => run(entry(text), 'UTC')],
  ['src/search/passages/recall-passages.ts#passageText', (run, text) => run(entry(text), 'UTC')],
  ['src/context/view/label.ts#labelOf', (run, text) => run(entry(text), null, 'UTC')],
  ['src/context/view/view.ts#renderEntry', (run, text) => run(entry(text), [], 'UTC')],
  [
    'src/compaction/job/transcript-line.ts#nonceFor',
    (run, text) => run([text], { id: () => 'nonce', value: () => 0.5 }),
  ],
  [
    'src/context/view/entry-message.ts#entryMessageOf',
    (run, text) => run(entry(text), { stubBytes: null, textTokens: 1000, replySeq: () => null }),
  ],
  ['src/context/view/reduce.ts#stubResult', (run, text) => run(toolResult(text), 200, null)],
  ['src/context/view/reduce.ts#shortenResult', (run, text) => run(toolResult(text), 100, null)],
  ['src/context/measure/truncate.ts#shorten', (run, text) => run(text, 100)],
  ['src/conversation/turn/turn-entries.ts#entriesOf', (run, text) => run([], { role: 'assistant', text }, 0)],
  [
    'src/forecast/recording.ts#recordingOf',
    (run, text) => run({}, [entry(text)], { timezone: 'UTC', tool_results: { old_bytes: 200 } }),
  ],
  ['src/forecast/settings.ts#withSettings', (run, text) => run({ compaction: {} }, `engine=${text}`)],
  [
    'src/context/preview.ts#withQuestion',
    (run, text) => run({ conversation: { nextSeq: 1 }, tail: [] }, text, { now: 0 }),
  ],
  [
    'src/memory/people/about-person.ts#isOnlyAbout',
    (run, text) => run(text, { names: ['Ada', text.slice(0, 40)], others: ['Bob'] }),
  ],
  [
    'src/memory/admission/add.ts#isRule',
    (run, text) => run(text, { rights: 'member', reader: { audience: 'public' } }),
  ],
  [
    'src/memory/people/first-names.ts#calledIn',
    (run, text) => run(text, { name: 'Bob' }, [{ name: 'Ada Lovelace' }, { name: `${text.slice(0, 40)} Lovelace` }]),
  ],
  [
    'src/memory/people/written-names.ts#writtenNamesIn',
    (_run, text) => {
      const names = writtenNamesIn(text, text.slice(0, 40));
      return [names.isCapitalised('Will'), names.isOnlySmall('Ada')];
    },
  ],
  ['src/memory/recall/focus.ts#focusOf', (run, text) => run(entry(text))],
  [
    'src/memory/recall/focus.ts#boostOf',
    (run, text) =>
      run(
        { people: new Set(), mentioned: new Set(), names: ['ada'], intents: new Set() },
        { text, kind: 'fact', subjectId: null },
      ),
  ],
  ['src/search/ranking/line-features.ts#readSaid', (run, text) => run(text, 10)],
  ...['isQuestion', 'isReaction', 'isStanding', 'isPreference', 'codeShare', 'times', 'numbers', 'digits', 'names'].map(
    (name): readonly [string, Call] => [
      `src/search/ranking/line-features.ts#${name}`,
      (run, text) => run(readSaid(text, 10)),
    ],
  ),
  ['src/search/words/inflection.ts#isInflection', (run, text) => run(text, `${text}s`, true)],
  ['src/search/words/inflection.ts#findInflection', (run, text) => run([text, ...text.split(' ')])],
  ['src/search/words/inflection.ts#isPartOf', (run, text) => run(text, `over${text}`, true)],
  [
    'src/search/ranking/read-tokens.ts#readTokens',
    (run, text) => run(text, { isWanted: () => true, token: () => undefined, part: () => undefined }),
  ],
  [
    'src/search/ranking/word-parts.ts#readParts',
    (run, text) => run(text, { isWanted: () => true, part: () => undefined }),
  ],
  [
    'src/search/ranking/word-parts.ts#readComposed',
    (run, text) => run(text, { isWanted: () => true, part: () => undefined }),
  ],
  ['src/search/words/spelling.ts#spelt', (run, text) => isFoundBy(run(text), { words: ` ${text}`, joined: text })],
  ['src/memory/statements/additions.ts#additionsIn', (run, text) => run(text, [{ at: 1, words: [text] }])],
  [
    'src/memory/statements/additions.ts#additionsAfter',
    (run, text) => run({ before: 'tea', after: text, known: [], at: 1 }),
  ],
  ['src/memory/people/months.ts#monthsIn', (run, text) => isFoundBy(run(`${text} may`), 'May')],
  [
    'src/search/specifics/specific-keys.ts#specificKey',
    (run, text) => [run('number', text), run('date', text), run('code', text)],
  ],
  ['src/search/specifics/specific-tokens.ts#kindOfToken', (run, text) => run(text, { isOpening: false })],
  [
    'adapters/inspector/web/pages/find-page.ts#findBody',
    (run, text) => run(text, { conversations: [], messages: [], memories: [{ ...found, text }], searched: 1 }),
  ],
  [
    'src/inspection/address.ts#publicLinkTo',
    (run, text) => run(text, { listen: '127.0.0.1:0', url: 'https://strata.example.org', password: 'secret' }),
  ],
  [
    'adapters/inspector/web/pages/rerun-page.ts#rerunIn',
    (run, text) => run({ choice: `${text} ${text}`, system: text }),
  ],
  [
    'adapters/inspector/web/pages/rerun-page.ts#rerunBody',
    (run, text) => run({ reply: replyView(text), result: { failure: text, choice: null }, edited: null }, 'token'),
  ],
  [
    'adapters/inspector/web/markup/shown-text.ts#shownTexts',
    (run, text) => run([text, 'short', text], { bytes: 500, markupOf: (_: number, length: number) => length }),
  ],
  ['adapters/inspector/web/pages/reply-page.ts#replyBody', (run, text) => run(replyView(text), 'token')],
  [
    'adapters/inspector/web/pages/summary-page.ts#summaryBody',
    (run, text) => {
      const marks = [...text].map((_, start) => ({ start, end: start + 1, kind: 'number', isLost: start % 2 === 0 }));
      const whole = { start: 0, end: text.length, kind: 'promise', isLost: true };
      const source = { fromSeq: 1, toSeq: 1, layerId: null, who: 'Ada', at: 0, text, sentences: [] };
      const summary = { id: 's1', kind: 'summary', fromSeq: 1, toSeq: 2, level: 0, supersededBy: null };
      return run(
        {
          conversation: { key: 'test:here:talk' },
          text: [[{ text, sources: [0] }]],
          moreSources: 0,
          lost: [],
          summary: { ...summary, tokens: 1, model: null, createdAt: 0, stale: false, promptHash: null },
          lostByKind: [],
          keptShare: 1,
          rewriting: { kind: 'impossible', reason: text },
          sources: [{ ...source, marks: [whole, ...marks.slice(0, 10_000)] }],
        },
        'token',
      );
    },
  ],
  ['src/inspection/history/turns-upto.ts#weigh', (run, text) => run([entry(text)], 'UTC')],
  ['src/search/passages/place-passages.ts#passageTextElsewhere', (run, text) => run(entry(text), 'UTC')],
  ['adapters/inspector/web/markup/html.ts#withParameters', (run, text) => run(text, { q: text })],
  ['adapters/inspector/web/pages/layout.ts#troublePage', (run, text) => run(null, { title: text, text })],
  ['src/inspection/summaries/trace.ts#traceSentences', (run, text) => run(text, [text])],
  ['src/search/specifics/losses.ts#accountFor', (run, text) => run(text, [{ seq: 1, text }])],
  ['src/search/specifics/losses.ts#keptShare', (run, text) => run(accountFor(text.slice(0, 1000), [{ seq: 1, text }]))],
  [
    'src/search/specifics/losses.ts#countSpecifics',
    (run, text) => run(accountFor(text.slice(0, 1000), [{ seq: 1, text }])),
  ],
  ['src/search/specifics/read-account.ts#sourceOf', (run, text) => run(entry(text))],
  ['src/search/specifics/losses.ts#lostOnce', (run, text) => run(accountFor('', [{ seq: 1, text }]).lost)],
  ['src/tools/offload.ts#offload', (run, text) => run(text, 'b1', { blobBytes: 8000, keptBytes: 6000 })],
  ['adapters/stores/postgres/words.ts#indexText', (run, text) => run([1], text)],
  [
    'src/memory/admission/grounding.ts#groundingOf',
    (run, text) => run(text, { sources: [entry(text)], subjectName: 'Ada', names: ['Ada'] }),
  ],
  [
    'src/memory/admission/kept-out.ts#withoutKeptOut',
    (run, text) => {
      const asking = entry(`Forget my ${text}`);
      run(text, { sources: [entry(text)], entries: [{ ...asking, seq: asking.seq + 1 }], names: ['Ada'] });
      run('Ada likes tea', { sources: [asking], entries: [], names: ['Ada'] });
    },
  ],
  ['src/util/text/normal-form.ts#normalForm', (run, text) => run(text, 'NFKC')],
  ['src/util/text/scan.ts#trimEndWhile', (run, text) => run(text, () => true)],
  [
    'src/util/text/scan.ts#quotationsIn',
    (run, text) =>
      run(
        text,
        new Map([
          ['"', '"'],
          ['「', '」'],
          ['«', '»'],
        ]),
      ),
  ],
  ['src/cli/help.ts#unknownCommand', (run, text) => run(text, new Command('strata'))],
  ['src/util/text/scan.ts#between', (run, text) => run(text, /a/u, /b/u)],
  ['src/util/text/cells.ts#displayWidth', (run, text) => run(text)],
  ['src/util/text/cells.ts#leastWidth', (run, text) => run(text)],
  ['src/util/text/cells.ts#cellsOf', (run, text) => run(text)],
  ['src/util/text/wrap.ts#wrap', (run, text) => run(text, 40)],
  ['src/util/text/table.ts#formatTable', (run, text) => run(['name'], [[text]], 40)],
  ['src/util/text/table.ts#formatFields', (run, text) => run([{ name: text, value: text }], 40)],
]);

/** Functions whose strings are never chosen from outside: ids, addresses, files, settings, internal names. */
export const NOT_TEXT: ReadonlySet<string> = new Set([
  // Words that a statement has left.
  'src/memory/forget/statement-match.ts#traitsWithout',
  // Colours of the program.
  'src/pictures/canvas.ts#createCanvas',
  'adapters/inspector/web/serving/broadcasts.ts#withOwnLimit',
  ...[
    'adapters/inspector/web/serving/access.ts#createAccess',
    'adapters/inspector/web/pages/memory-page.ts#memoryBody',
  ],
  ...[
    'adapters/inspector/web/charts/memory-graph.ts#memoryGraph',
    'adapters/inspector/web/pages/rewrite-panel.ts#rewritePanel',
  ],
  ...['adapters/inspector/web/markup/blocks.ts#leftItem', 'adapters/inspector/web/markup/shown-text.ts#moreNote'],
  ...['adapters/inspector/web/pages/layout.ts#shell', 'adapters/inspector/web/pages/layout.ts#emptyState'],
  ...['src/inspection/viewer.ts#assertMayRead', 'src/inspection/viewer.ts#assertOperator'],
  'adapters/channels/slack/places/places.ts#isForeign',
  'src/config/known.ts#dropsOldest',
  ...['adapters/channels/shared/access-list.ts#passes', `${DISCORD}/commands/register.ts#scopesOf`],
  ...[
    `${DISCORD}/commands/replies.ts#button`,
    `${DISCORD}/commands/replies.ts#question`,
    `${DISCORD}/places/place.ts#keyOf`,
  ],
  ...[`${SLACK}/places/access.ts#servesPlace`, `${SLACK}/commands/form.ts#inputForm`],
  ...[`${SLACK}/commands/form.ts#confirmForm`, `${SLACK}/commands/form.ts#formValues`],
  ...[
    'adapters/channels/shared/message-menus.ts#whyCommand',
    'adapters/channels/shared/message-menus.ts#forgetRefusal',
  ],
  `${SLACK}/places/place.ts#conversationsOf`,
  ...[`${SLACK}/settings.ts#settingsOf`, `${SLACK}/web/web.ts#createWeb`],
  ...[
    'adapters/models/ai-sdk/providers/environment.ts#firstSet',
    'adapters/models/ai-sdk/providers/openrouter.ts#withCacheMarks',
  ],
  'adapters/queues/bullmq/check.ts#judgeRedis',
  ...['adapters/models/ai-sdk/providers/request-changes.ts#lowered', 'src/config/shapes.ts#urlOrNothing'],
  ...[
    'adapters/stores/kysely/failures.ts#explain',
    'adapters/stores/postgres/failures.ts#explain',
    'adapters/stores/postgres/scrub.ts#createScrub',
  ],
  ...['adapters/stores/kysely/units.ts#createUnits', 'adapters/stores/postgres/units.ts#createUnits'],
  'adapters/stores/sql/archive/archive.ts#createArchive',
  ...[
    'adapters/stores/sql/migrations/apply-migrations.ts#isComplete',
    'adapters/stores/sql/migrations/apply-migrations.ts#isForeign',
  ],
  ...['adapters/stores/sql/query/conditions.ts#beginsWith', 'adapters/stores/sql/query/shapes.ts#named'],
  'adapters/stores/sql/query/shapes.ts#createShapes',
  ...[
    'adapters/stores/sqlite/failures.ts#explain',
    'src/cli/transfer/backup.ts#contentsOf',
    'src/app/log-file.ts#openLogFile',
    'src/util/network/certificates.ts#trustCertificates',
  ],
  ...[
    'src/commands/command.ts#mentionedIn',
    'src/commands/command.ts#optionOf',
    'src/commands/command.ts#requiredOption',
    'src/commands/command.ts#commandTo',
  ],
  ...[
    'src/commands/actions.ts#resolveAction',
    'src/commands/lines/parse.ts#checkOptions',
    'src/commands/reply.ts#makeReply',
    'src/commands/reply.ts#sentences',
  ],
  ...['src/commands/actions.ts#findCommand', 'src/commands/actions.ts#unknownAction'],
  ...['src/commands/spec.ts#action', 'src/commands/spec.ts#singleAction'],
  ...['src/commands/spec.ts#textOption', 'src/commands/spec.ts#choiceOption', 'src/commands/spec.ts#integerOption'],
  'adapters/channels/terminal/questions.ts#createQuestions',
  ...['src/config/layers.ts#describeOrigin', 'src/config/secrets.ts#secretsOf'],
  ...[
    'src/config/sections.ts#readSections',
    'src/config/toml/source.ts#readSource',
    'src/context/measure/calibration.ts#correctionFor',
  ],
  ...['src/context/measure/calibration.ts#lastReported', 'src/conversation/turn/turn-entries.ts#postsOf'],
  ...[
    'src/util/files/make-folder.ts#makeFolder',
    'src/util/files/open-input.ts#openInput',
    'src/util/files/private-file.ts#makePrivateFile',
    'src/util/files/private-file.ts#restrictToOwner',
    'src/util/files/text-file.ts#checkFile',
    'src/util/files/text-file.ts#readText',
  ],
  'adapters/channels/discord/drops.ts#dropMalformed',
  'adapters/channels/discord/gateway/frames.ts#readInformation',
  'adapters/channels/discord/gateway/socket.ts#notOpened',
  'adapters/channels/discord/gateway/socket.ts#endingOf',
  'adapters/channels/discord/gateway/socket.ts#end',
  // Connects to the address.
  'adapters/channels/discord/gateway/socket.ts#openSocket',
  'adapters/channels/discord/inbound/packets.ts#readPacket',
  'adapters/channels/discord/inbound/unread.ts#createUnread',
  'adapters/channels/discord/inbound/first-connections.ts#createFirstConnections',
  'adapters/channels/slack/inbound/incoming.ts#withChannel',
  'adapters/channels/slack/connection/packets.ts#dropMalformed',
  'adapters/channels/slack/web/request.ts#createFetch',
  'src/commands/command.ts#typed',
  'src/commands/reply.ts#failureReply',
  'src/plugins/failure-place.ts#describeFailure',
  'src/plugins/failure-place.ts#placeIn',
  'src/cli/setup/doctor-finding.ts#ok',
  'src/util/errors/require-object.ts#requireObject',
  'adapters/inspector/web/charts/plot.ts#nameOf',
  'src/config/problems.ts#knownPaths',
  'src/prompts/template.ts#templateOfKept',
  'src/prompts/template-variables.ts#variablePaths',
  `${DISCORD}/places/place.ts#linkTo`,
  `${DISCORD}/inbound/readings.ts#isIn`,
  'adapters/stores/sqlite/lock.ts#lockDirectory',
  'adapters/stores/sqlite/open.ts#openFile',
  'src/bot/engines.ts#createEngines',
  'src/context/profile/child-profile.ts#childTools',
  'src/context/profile/profile.ts#guidanceText',
]);
