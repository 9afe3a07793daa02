import type { ContextEngine } from '../../ports/engine.ts';
import type { EngineChildren } from '../../ports/engine-children.ts';
import type { Intake } from './intake.ts';
import type { ReducedWindows } from './reduced-windows.ts';

/** The methods of an engine that counts each message once, prepares nothing for children, and keeps only these notes. */
export function statelessMethods(
  intake: Pick<Intake, 'take' | 'end' | 'clear'>,
  reducedWindows: Pick<ReducedWindows, 'end'>,
): EngineChildren & Pick<ContextEngine, 'ingest' | 'ingestBatch' | 'dispose'> {
  return {
    ingest: async ({ snapshot, seq }) => ({ ingested: intake.take(snapshot.conversation.id, seq), due: false }),
    async ingestBatch({ snapshot, seqs }) {
      return { ingested: seqs.filter((seq) => intake.take(snapshot.conversation.id, seq)).length };
    },
    prepareChild: async () => null,
    async endChild({ conversationId }) {
      if (conversationId === null) return;
      intake.end(conversationId);
      reducedWindows.end(conversationId);
    },
    dispose: async () => intake.clear(),
  };
}
