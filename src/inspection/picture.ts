import type { CommandServices } from '../commands/services.ts';
import { contextPicture } from '../pictures/context-picture.ts';
import type { ReplyPicture } from '../ports/reply.ts';
import type { Conversation } from '../ports/store.ts';
import { conversationView } from './conversation.ts';
import { createGauges } from './history/gauges.ts';

/** Figures only, so that everybody in a conversation may see it. */
const EVERYBODY = { name: 'a picture', role: 'viewer' } as const;

/** The gauge and history of a conversation; null while its model is unknown. */
export async function pictureOf(services: CommandServices, { key }: Conversation): Promise<ReplyPicture | null> {
  const query = { viewer: EVERYBODY, key, atSeq: null };
  const { row, moments } = await conversationView({ ...services, gauges: createGauges(services) }, query);
  const { gauge } = row.reading;
  return gauge === null ? null : contextPicture({ ...gauge, moments });
}
