import type { ColumnDefinitionBuilder } from 'kysely';
import { DAY_MS } from '../../../../src/adapter-kit.ts';

type Column = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;

export const required: Column = (column) => column.notNull();
export const zero: Column = (column) => column.notNull().defaultTo(0);
export const ofConversation: Column = (column) => column.notNull().references('conversation.id').onDelete('cascade');

/** The value of a column `day`: days since 1970-01-01 (UTC). */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}
