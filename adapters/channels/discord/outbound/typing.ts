import { Routes } from 'discord.js';
import { createWorkingSigns, type WorkingSigns } from '../../shared/working-signs.ts';
import { placeOfKey, targetOf } from '../places/place.ts';
import type { Rest } from '../web/rest.ts';

/** Discord shows the typing sign for ten seconds. */
const REFRESH_MS = 8_000;
const MAX_MS = 600_000;

export function createTyping(rest: Rest, options: { readonly refreshMs?: number } = {}): WorkingSigns {
  return createWorkingSigns({
    refreshMs: options.refreshMs ?? REFRESH_MS,
    maxMs: MAX_MS,
    begin: (conversation) => createSign(rest, targetOf(placeOfKey(conversation))),
  });
}

/** One request at a time: the sign has a rate limit of its own, and a late one would appear after the reply. */
function createSign(rest: Rest, channelId: string): () => void {
  let isSending = false;
  const done = () => {
    isSending = false;
  };
  return () => {
    if (isSending) return;
    isSending = true;
    rest.post(Routes.channelTyping(channelId)).then(done, done);
  };
}
