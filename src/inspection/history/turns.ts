import { causeInStack, firstOtherLayer } from '../../context/cuts/cache-loss.ts';
import type { RequestNote } from '../../context/record/request-note.ts';
import type { LayerPrint } from '../../context/record/request-print.ts';
import type { CacheLossCause } from '../../ports/journal.ts';

export const MAX_TURNS = 48;

/** What a reply's request consisted of, in estimated tokens, and how much of it the provider could have cached. */
export interface Turn {
  /** Of the reply. */
  readonly seq: number;
  /** The newest message that it had read. */
  readonly turn: number;
  readonly at: number;
  readonly model: string;
  readonly window: number;
  readonly fixed: number;
  readonly stack: number;
  readonly tail: number;
  readonly recalled: number;
  readonly reserve: number;
  readonly used: number;
  /** Tokens at the start that were the same in the request before. */
  readonly reused: number;
  /** Why no more of it was; null if all of it was, and for the first one. */
  readonly cause: CacheLossCause | null;
}

/** The request behind a reply, as far as its tokens are known. */
export interface TurnFacts extends Pick<Turn, 'seq' | 'turn' | 'at'> {
  readonly note: RequestNote;
  readonly settings: TurnSettings;
  readonly layers: readonly TurnLayer[];
  /** Estimated, without the factor of the model. */
  readonly recalledTokens: number;
}

export interface TurnSettings {
  readonly model: string;
  readonly windowTokens: number;
  readonly reserveTokens: number;
  /** Of tools and system sections. */
  readonly fixedTokens: number;
  /** Hash of the tools. */
  readonly catalogue: string;
  /** Key and hash of each system section. */
  readonly sections: readonly (readonly [key: string, hash: string])[];
}

export interface TurnLayer extends LayerPrint {
  readonly tokens: number;
}

export interface TurnContext {
  /** Estimated tokens of the entries in the range. */
  readonly tokensIn: (fromSeq: number, toSeq: number) => number;
  /** Whether an entry of the range was edited or deleted between two times. */
  readonly isChanged: (range: { fromSeq: number; toSeq: number; after: number; upto: number }) => boolean;
  /** Factor for estimates. */
  readonly correction: number;
  /** How long the provider keeps a prefix. */
  readonly cacheMs: number;
}

/** Pure: the newest requests of consecutive replies, each compared with the one before. */
export function turnsOf(facts: readonly TurnFacts[], context: TurnContext): readonly Turn[] {
  return facts.map((now, index) => turnOf(now, facts[index - 1] ?? null, context)).slice(-MAX_TURNS);
}

function turnOf(now: TurnFacts, before: TurnFacts | null, context: TurnContext): Turn {
  const { seq, turn, at, settings, note } = now;
  const scaled = (tokens: number) => Math.ceil(tokens * context.correction);
  const fixed = scaled(settings.fixedTokens);
  const stack = scaled(tokensOf(now.layers));
  const steps = note.steps === 0 ? 0 : context.tokensIn(seq - note.steps, seq - 1);
  const recalled = scaled(now.recalledTokens);
  const reserve = settings.reserveTokens;
  const room = Math.max(0, settings.windowTokens - fixed - stack - recalled - reserve);
  const tail = Math.min(room, scaled(context.tokensIn(note.fromSeq, turn) + steps));
  const { cause, same } = before === null ? { cause: null, same: 0 } : compared(before, now, context);
  const prompt = fixed + stack + tail + recalled;
  return {
    seq,
    turn,
    at,
    fixed,
    stack,
    tail,
    recalled,
    reserve,
    cause,
    model: note.model ?? settings.model,
    window: settings.windowTokens,
    used: prompt + reserve,
    reused: Math.min(prompt, scaled(same)),
  };
}

function tokensOf(layers: readonly TurnLayer[]): number {
  return layers.reduce((sum, { tokens }) => sum + tokens, 0);
}

interface Comparison {
  readonly cause: CacheLossCause | null;
  /** Estimated tokens at the start that both have. */
  readonly same: number;
}

/** In the order of a request: what differs first decides. */
function compared(before: TurnFacts, now: TurnFacts, context: TurnContext): Comparison {
  if (now.at - before.at > context.cacheMs) return { cause: 'expired', same: 0 };
  const head = causeInHead(before, now);
  if (head !== null) return { cause: head, same: 0 };
  const fixed = now.settings.fixedTokens;
  const at = firstOtherLayer(before.layers, now.layers);
  const layers = at === null ? now.layers : now.layers.slice(0, at);
  const prefix = fixed + tokensOf(layers);
  if (at !== null) {
    const cause = isReset(before, now) ? 'reset' : causeInStack(before.layers, now.layers, at);
    return { cause, same: prefix };
  }
  const tail = causeInTail(before, now, context);
  if (tail !== null) return { cause: tail, same: prefix };
  // What is recalled stands before the newest message and changes with it.
  return { cause: null, same: prefix + context.tokensIn(now.note.fromSeq, before.turn - 1) };
}

function causeInHead(before: TurnFacts, now: TurnFacts): CacheLossCause | null {
  const modelOf = ({ note, settings }: TurnFacts) => note.model ?? settings.model;
  if (modelOf(before) !== modelOf(now)) return 'model';
  if (before.note.isAltered || now.note.isAltered) return 'hook';
  if (before.settings.catalogue !== now.settings.catalogue) return 'tools';
  const changed = changedSection(before.settings.sections, now.settings.sections);
  if (changed !== null) return changed === 'instructions' ? 'instructions' : 'prompt';
  // With less room, tools become shorter before any section does.
  return before.settings.fixedTokens === now.settings.fixedTokens ? null : 'tools';
}

function changedSection(before: TurnSettings['sections'], now: TurnSettings['sections']): string | null {
  const length = Math.max(before.length, now.length);
  for (let index = 0; index < length; index += 1) {
    const [was, is] = [before[index], now[index]];
    if (was?.[0] !== is?.[0] || was?.[1] !== is?.[1]) return is?.[0] ?? was?.[0] ?? '';
  }
  return null;
}

function isReset(before: TurnFacts, now: TurnFacts): boolean {
  return now.layers.length === 0 && now.note.fromSeq > before.turn;
}

function causeInTail(before: TurnFacts, now: TurnFacts, { isChanged }: TurnContext): CacheLossCause | null {
  const { fromSeq, reduction } = now.note;
  if (isReset(before, now)) return 'reset';
  if (isChanged({ fromSeq, toSeq: before.turn, after: before.at, upto: now.at })) return 'edit';
  if (before.note.fromSeq !== fromSeq) return 'engine';
  const was = before.note.reduction;
  const isShorter = was.stubs !== reduction.stubs || was.textTokens !== reduction.textTokens;
  return isShorter || was.droppedTailShare !== reduction.droppedTailShare ? 'shortened' : null;
}
