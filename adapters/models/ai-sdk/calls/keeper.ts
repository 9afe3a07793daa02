import type { ProviderMetadata, TextStreamPart, ToolSet } from 'ai';
import { z } from 'zod';
import { FIELDS } from '../wire/reasoning-fields.ts';
import type { Kept } from './kept.ts';

interface Written {
  readonly kind: 'reasoning' | 'text';
  text: string;
  options?: ProviderMetadata;
}
type Given = Written | { readonly kind: 'call'; readonly id: string; readonly options?: ProviderMetadata | undefined };

const fieldsSchema = z.object({ [FIELDS]: z.record(z.string(), z.json()) });

/** Gathers what the provider of one step wants back with its calls. */
export function createKeeper() {
  const parts: Given[] = [];
  /** What is being written, by kind and id. */
  const open = new Map<string, Written>();
  let fields: Kept['fields'];
  const write = (kind: Written['kind'], { id, text = '', providerMetadata }: Piece) => {
    const key = `${kind} ${id}`;
    const found = open.get(key);
    const written: Written = found ?? { kind, text: '' };
    if (found === undefined) {
      open.set(key, written);
      parts.push(written);
    }
    written.text += text;
    // The signature comes with the end, or with one of the pieces.
    if (providerMetadata !== undefined) written.options = providerMetadata;
  };
  return {
    take(part: TextStreamPart<ToolSet>): void {
      switch (part.type) {
        case 'reasoning-start':
        case 'reasoning-delta':
        case 'reasoning-end':
          write('reasoning', part);
          break;
        case 'text-start':
        case 'text-delta':
        case 'text-end':
          write('text', part);
          break;
        case 'tool-call':
          parts.push({ kind: 'call', id: part.toolCallId, options: part.providerMetadata });
          break;
        case 'finish-step':
          fields = fieldsSchema.safeParse(part.providerMetadata).data?.[FIELDS];
          break;
        // The other parts are nothing that a provider wants back.
      }
    },
    /** As a part of the end of a step. */
    given(): { readonly reasoning: string } | Record<never, never> {
      if (fields === undefined && !parts.some(isWanted)) return {};
      // The fields repeat what was thought.
      const kept = fields === undefined ? parts : parts.filter(({ kind }) => kind !== 'reasoning');
      return { reasoning: JSON.stringify({ parts: kept, fields }) };
    },
  };
}

interface Piece {
  readonly id: string;
  readonly text?: string;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** Other parts mean something only beside the reasoning. */
function isWanted({ kind, options = {} }: Given): boolean {
  return kind === 'reasoning' || Object.values(options).some((given) => 'thoughtSignature' in given);
}
