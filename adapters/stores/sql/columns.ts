import type { ColumnDefinitionBuilder } from 'kysely';

type Column = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;

export const required: Column = (column) => column.notNull();
export const zero: Column = (column) => column.notNull().defaultTo(0);
export const ofConversation: Column = (column) => column.notNull().references('conversation.id').onDelete('cascade');
