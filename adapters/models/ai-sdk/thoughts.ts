import type { FinishReason, ModelPart } from '../../../src/adapter-kit.ts';

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

const END = /(?<!`)<\/think>/;
/** The tag without its last character, and the character before it. */
const KEPT_CHARACTERS = 8;

/**
 * Takes unmarked reasoning out of the text of one answer. Only the end tag shows that it was reasoning. So nothing is
 * passed on before the tag if the model has written so before, or belongs to such a family and has not answered yet. The
 * text of other models is passed on at once, and taken back if the tag comes.
 */
export function createAnswerFilter({ known, maxCharacters }: FilterOptions) {
  let thoughts = known;
  let isOpen = known !== 'apart';
  let isHolding = known === 'unmarked' || known === 'unknown';
  let held = '';
  let recent = '';
  const release = (): readonly ModelPart[] => {
    const parts = textParts(held);
    held = '';
    isHolding = false;
    return parts;
  };
  return {
    /** What this answer has shown of the model. */
    get thoughts() {
      return thoughts;
    },
    text(text: string): readonly ModelPart[] {
      if (!isOpen) return textParts(text);
      const seen = recent + text;
      const end = END.exec(seen);
      recent = seen.slice(-KEPT_CHARACTERS);
      if (end !== null) {
        isOpen = false;
        thoughts = 'unmarked';
        held = '';
        const answer = textParts(seen.slice(end.index + end[0].length));
        return isHolding ? answer : [{ kind: 'retract' }, ...answer];
      }
      if (!isHolding) return textParts(text);
      held += text;
      // A first answer without an end is cut like any other.
      return known === 'unknown' && held.length > maxCharacters ? release() : [];
    },
    /** Reasoning came apart from the text, or between tags. */
    reasoned(): readonly ModelPart[] {
      if (!isOpen) return [];
      isOpen = false;
      thoughts = 'marked';
      return release();
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
