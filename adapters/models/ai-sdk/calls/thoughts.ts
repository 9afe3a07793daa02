import { createSpokenReader, type FinishReason, type ModelPart, type Spoken } from '../../../../src/adapter-kit.ts';
import { toInput } from './call-input.ts';

/**
 * Where a model writes its reasoning: `apart` from the answer, as the provider sends it; in the answer, `marked` by both
 * tags; or `unmarked`, with the end tag only, because the chat template has put the first one into the prompt.
 */
export type Thoughts = 'apart' | 'marked' | 'unmarked' | 'unknown';

/** Families with such templates, by the usual names of their models. */
const UNMARKED_FAMILIES = /deepseek|qwen|qwq|glm|minimax|nemotron|\br1\b|think|reason/i;

export function thoughtsOf(model: string): Thoughts {
  return UNMARKED_FAMILIES.test(model) ? 'unknown' : 'marked';
}

export interface FilterOptions {
  readonly known: Thoughts;
  /** Of text that is held back. */
  readonly maxCharacters: number;
}

/**
 * Takes reasoning, and what chat templates add, out of the text of one answer. Only an end tag shows unmarked reasoning.
 * So nothing is passed on before the tag if the model has written so before, or belongs to such a family and has not
 * answered yet. The text of other models is passed on at once, and taken back if the tag comes.
 */
export function createAnswerFilter(options: FilterOptions) {
  const hold = createHold(options);
  const reader = createSpokenReader();
  let calls = 0;
  const take = (spoken: Spoken): readonly ModelPart[] => {
    if (spoken.kind === 'text') return hold.text(spoken.text);
    if (spoken.kind === 'reasoning') return hold.reasoned();
    if (spoken.kind === 'unopened') return hold.unopened();
    calls += 1;
    const { tool, input } = spoken;
    return [{ kind: 'call', call: { callId: `written-${calls}`, tool, input: toInput(input) } }];
  };
  return {
    /** What this answer has shown of the model. */
    get thoughts() {
      return hold.thoughts;
    },
    text(text: string): readonly ModelPart[] {
      return options.known === 'apart' ? textParts(text) : reader.text(text).flatMap(take);
    },
    /** Reasoning came apart from the text. */
    reasoned: hold.reasoned,
    end(reason: FinishReason): readonly ModelPart[] {
      return [...reader.end(reason !== 'length').flatMap(take), ...hold.end(reason)];
    },
  };
}

function createHold({ known, maxCharacters }: FilterOptions) {
  let thoughts = known;
  let isOpen = known !== 'apart';
  let isHolding = known === 'unmarked' || known === 'unknown';
  let held = '';
  const release = (): readonly ModelPart[] => {
    const parts = textParts(held);
    held = '';
    isHolding = false;
    return parts;
  };
  return {
    get thoughts() {
      return thoughts;
    },
    text(text: string): readonly ModelPart[] {
      if (!isOpen || !isHolding) return textParts(text);
      held += text;
      // A first answer without an end is cut like any other.
      return known === 'unknown' && held.length > maxCharacters ? release() : [];
    },
    reasoned(): readonly ModelPart[] {
      if (!isOpen) return [];
      isOpen = false;
      thoughts = 'marked';
      return release();
    },
    unopened(): readonly ModelPart[] {
      if (!isOpen) return [];
      isOpen = false;
      thoughts = 'unmarked';
      held = '';
      return isHolding ? [] : [{ kind: 'retract' }];
    },
    /** What was held back is the answer, unless the model usually reasons first and was cut before its answer. */
    end(reason: FinishReason): readonly ModelPart[] {
      if (known === 'unmarked' && isOpen && reason === 'length') return [];
      if (isHolding && held !== '' && reason === 'stop') thoughts = 'marked';
      return release();
    },
  };
}

function textParts(text: string): readonly ModelPart[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}
