import { createHmac, randomBytes } from 'node:crypto';
import type { StateStore as BoltStates, InstallURLOptions } from '@slack/bolt';
import { type Clock, isSameSecret, type StateStore } from '../../../../src/adapter-kit.ts';
import { elapsedMs } from '../../shared/elapsed.ts';

const NAMESPACE = 'slack.states';
/** How long a person may take to install. The cookie that binds the state to their browser lasts as long. */
const VALID_MS = 600_000;
const SWEEP_MS = 60_000;

export interface StatesOptions {
  /** The same for all gateways, because the browser may return to another one. */
  readonly secret: string;
  readonly state: StateStore;
  readonly clock: Clock;
  /** What every installation requests. */
  readonly options: InstallURLOptions;
}

/**
 * The `state` of an installation: signed, valid for ten minutes and for one use. Only used ones are stored, so visitors
 * who do not install cost nothing. The library checks with a cookie that it comes from the same browser.
 */
export function createStates({ secret, state, clock, options }: StatesOptions): BoltStates {
  const sign = (text: string) => createHmac('sha256', secret).update(text).digest('base64url');
  let sweptAt = Number.NEGATIVE_INFINITY;
  /** Used ones are stored only as long as they would be valid. Reads all of them, of which anybody can make many. */
  const sweep = async (): Promise<void> => {
    if (elapsedMs(clock, sweptAt) < SWEEP_MS) return;
    sweptAt = clock.now();
    for (const { key, value } of await state.list(NAMESPACE)) {
      if (typeof value !== 'number' || value < clock.now()) await state.delete(NAMESPACE, key);
    }
  };
  return {
    async generateStateParam() {
      const text = `${clock.now() + VALID_MS}.${randomBytes(16).toString('base64url')}`;
      return `${text}.${sign(text)}`;
    },
    async verifyStateParam(_now, given) {
      const [until = '', nonce = '', signature = ''] = given.split('.');
      if (!isSameSecret(signature, sign(`${until}.${nonce}`))) throw refused('it was not created here');
      if (clock.now() > Number(until)) throw refused('it is older than ten minutes');
      await sweep();
      const isFirst = await state.swap(NAMESPACE, nonce, { from: undefined, to: Number(until) });
      if (!isFirst) throw refused('it was used before');
      return options;
    },
  };
}

/** With the code that the library uses for such errors. */
function refused(reason: string): Error {
  return Object.assign(new Error(`The state of an installation was rejected: ${reason}.`), { code: INVALID_STATE });
}

export const INVALID_STATE = 'slack_oauth_invalid_state';
