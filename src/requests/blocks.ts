import { estimateMessages, estimateText } from '../context/measure/tokens.ts';
import { messageText, partsOf } from '../context/view/breakdown.ts';
import { layOut } from '../context/view/view.ts';
import type { ContextPart } from '../ports/engine.ts';
import type { ModelMessage } from '../ports/model.ts';
import type { Gone } from './gone.ts';
import { quotesIn } from './kept-sections.ts';
import type { RebuiltRequest } from './rebuild.ts';

/** A piece of a request: what it is, what it costs, where it comes from and why it is there. */
export interface RequestBlock {
  readonly kind: BlockKind;
  /** Unique within the request, and the same in the requests before and after it. */
  readonly key: string;
  /** Estimated. */
  readonly tokens: number;
  readonly source: string;
  readonly reason: string;
  readonly text: string;
  /** Why the text or some of it cannot be shown; null if it is what the model saw. */
  readonly gone: Gone | null;
}

export type BlockKind = 'tools' | 'section' | 'summary' | 'gap' | 'message' | 'recalled' | 'step' | 'hook';

/** The blocks in the order of the request. */
export function blocksOf({ fitted, note, gone, written }: RebuiltRequest): readonly RequestBlock[] {
  const { request, view } = fitted;
  const layers = new Set(view.layers.map(({ item }) => `${item.kind}:${item.id}`));
  const parts = partsOf(fitted).filter(({ included }) => included);
  const sections = new Map(view.prefix.sections.map(({ section }) => [section.key, section.memoryIds ?? []]));
  const goneIn = (ids: readonly string[]) =>
    ids.map((id) => gone.get(id)).find((reason) => reason !== undefined) ?? null;
  const blockOf = (kind: BlockKind, { key, tokens, source, reason, text }: ContextPart, ids: readonly string[]) => ({
    kind,
    key,
    tokens,
    source,
    reason,
    text,
    gone: goneIn(ids),
  });
  const blocks: RequestBlock[] = [];
  for (const part of parts) {
    const memories = sections.get(part.key);
    const recalled = request.volatile.find(({ key }) => key === part.key);
    if (part.key === 'tools') blocks.push(blockOf('tools', part, []));
    else if (memories !== undefined) blocks.push(blockOf('section', part, memories));
    else if (layers.has(part.key)) blocks.push(layerBlock(part, gone));
    else if (part.key === 'tail') blocks.push(...messageBlocks(fitted, gone), ...stepBlocks(fitted, { gone, note }));
    else if (recalled !== undefined) {
      const quoted = note.sections.flatMap((section) => (section.kind === part.key ? quotesIn(section) : []));
      blocks.push(blockOf('recalled', part, [...recalled.memoryIds, ...quoted]));
    }
  }
  return written === null ? blocks : [...blocks, hookBlock(written)];
}

/** The other blocks are as they were before the hook. */
function hookBlock(text: string): RequestBlock {
  const reason = text === '' ? 'left parts out or moved them' : 'changed the request';
  return { kind: 'hook', key: 'hook', tokens: estimateText(text), source: 'a plugin', reason, text, gone: null };
}

function layerBlock({ key, tokens, source, reason, text }: ContextPart, gone: RebuiltRequest['gone']): RequestBlock {
  const id = key.slice(key.indexOf(':') + 1);
  const missing = gone.get(id) ?? null;
  const kind = key.startsWith('summary') || missing !== null ? 'summary' : 'gap';
  return { kind, key: `${kind}:${id}`, tokens, source, reason, text, gone: missing };
}

function messageBlocks({ request, reduction }: RebuiltRequest['fitted'], gone: RebuiltRequest['gone']) {
  const { shown, entryMessages, askAt } = layOut(request, reduction);
  return shown.flatMap((entry, index): readonly RequestBlock[] => {
    const entryMessage = entryMessages[index];
    if (entryMessage === undefined) return [];
    return [
      {
        kind: 'message',
        key: `#${entry.seq}`,
        tokens: entryMessage.tokens,
        source: `transcript #${entry.seq}`,
        reason: index === askAt ? 'the newest message, which the reply answers' : 'since the last summary',
        text: messageText(entryMessage.message),
        gone: gone.get(`#${entry.seq}`) ?? null,
      },
    ];
  });
}

/** Calls and results of the turn itself. They became the entries right before the reply. */
function stepBlocks(
  { request }: RebuiltRequest['fitted'],
  { gone, note }: Pick<RebuiltRequest, 'gone' | 'note'>,
): readonly RequestBlock[] {
  const opened = new Map(note.opened.map(({ at, seq }) => [at, seq]));
  let seq = request.snapshot.tail.at(-1)?.seq ?? 0;
  return request.steps.map((step, index): RequestBlock => {
    const shown = opened.get(index);
    if (shown === undefined) seq += 1;
    const of = `#${shown ?? seq}`;
    return {
      kind: 'step',
      key: shown === undefined ? of : `images ${of}, ${index}`,
      tokens: estimateMessages([step]),
      source: `transcript ${of}`,
      reason: reasonOf(step, shown !== undefined),
      text: messageText(step),
      gone: gone.get(of) ?? null,
    };
  });
}

function reasonOf({ role }: ModelMessage, isOpened: boolean): string {
  if (isOpened) return 'images that a tool opened';
  return role === 'tool' ? 'results of the tools that it called' : 'tools that it called before it answered';
}
