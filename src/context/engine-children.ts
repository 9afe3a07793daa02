import type { EngineChildren } from '../ports/engine-children.ts';
import type { Intake } from './intake.ts';
import type { ReducedWindows } from './reduced-windows.ts';

/** For an engine that prepares nothing for children, and only releases what it has noted about them. */
export function childrenWithout(
  intake: Pick<Intake, 'end'>,
  reducedWindows: Pick<ReducedWindows, 'end'>,
): EngineChildren {
  return {
    prepareChild: async () => null,
    async endChild({ conversationId }) {
      if (conversationId === null) return;
      intake.end(conversationId);
      reducedWindows.end(conversationId);
    },
  };
}
