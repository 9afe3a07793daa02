import { z } from 'zod';
import type { JsonValue, StateStore } from '../../../../src/adapter-kit.ts';
import type { TokenEncryption } from './token-encryption.ts';

const NAMESPACE = 'slack.installations';

/** The app in one workspace, as installed there. */
export interface Installation {
  readonly teamId: string;
  readonly teamName: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly token: string;
  /** Only if the app uses token rotation. */
  readonly renewal: Renewal | null;
  readonly installedAt: number;
}

/** When a token was issued and expires, by the clock of this machine, and what it can be exchanged for. */
export interface Renewal {
  readonly refreshToken: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** What is known about an installation without the key. */
export type Installed = Omit<Installation, 'token' | 'renewal'> & {
  /** The app was removed, and the data of the workspace is being deleted. */
  readonly isEnding: boolean;
};

/** All workspaces that installed the app, with encrypted tokens, in the store that all gateways share. */
export interface Installations {
  /** Null if the app is not installed (any more). Throws `SECRET_UNREADABLE`. */
  find(teamId: string): Promise<Installation | null>;
  list(): Promise<readonly Installed[]>;
  put(installation: Installation): Promise<void>;
  /** Stores renewed tokens. False if the app was removed, reinstalled or renewed elsewhere since it was read. */
  renew(installation: Installation, renewed: Installation): Promise<boolean>;
  /**
   * Deletes the token. The workspace stays listed until it is removed, so that a crash in between loses nothing. False if
   * the app was reinstalled or renewed since it was read, or if another gateway was first.
   */
  end(installation: Installation): Promise<boolean>;
  /** Only the installation of this time, and only if it has ended. */
  remove(teamId: string, installedAt: number | null): Promise<void>;
}

const rowSchema = z.object({
  teamName: z.string(),
  botUserId: z.string(),
  botId: z.string(),
  installedAt: z.number(),
  /** Empty if the app was removed. */
  sealed: z.string(),
});
type Row = z.infer<typeof rowSchema>;

const sealedSchema = z.object({
  token: z.string(),
  // Earlier versions did not store when a token was issued.
  renewal: z.object({ refreshToken: z.string(), issuedAt: z.number().default(0), expiresAt: z.number() }).nullable(),
});

export function createInstallations(state: StateStore, encryption: TokenEncryption): Installations {
  const read = (teamId: string) => state.get(NAMESPACE, teamId);
  const sealed = ({ teamId, token, renewal, ...open }: Installation): Row => {
    return { ...open, sealed: encryption.seal(JSON.stringify({ token, renewal }), teamId) };
  };
  const opened = (teamId: string, value: JsonValue | undefined): Installation | null => {
    const row = rowSchema.safeParse(value).data;
    if (row === undefined || row.sealed === '') return null;
    const { sealed: text, ...open } = row;
    return { teamId, ...open, ...sealedSchema.parse(JSON.parse(encryption.open(text, teamId))) };
  };
  const replace = async (known: Installation, to: Row): Promise<boolean> => {
    const from = await read(known.teamId);
    if (opened(known.teamId, from)?.token !== known.token) return false;
    return await state.swap(NAMESPACE, known.teamId, { from, to });
  };
  return {
    find: async (teamId) => opened(teamId, await read(teamId)),
    async list() {
      const rows = await state.list(NAMESPACE);
      return rows.flatMap(({ key: teamId, value }) => {
        const row = rowSchema.safeParse(value).data;
        if (row === undefined) return [];
        const { sealed: text, ...open } = row;
        return [{ teamId, ...open, isEnding: text === '' }];
      });
    },
    put: (installation) => state.set(NAMESPACE, installation.teamId, sealed(installation)),
    renew: (installation, renewed) => replace(installation, sealed(renewed)),
    end: (installation) => replace(installation, { ...sealed(installation), sealed: '' }),
    async remove(teamId, installedAt) {
      const from = await read(teamId);
      const row = rowSchema.safeParse(from).data;
      if (row?.sealed !== '' || row.installedAt !== installedAt) return;
      await state.swap(NAMESPACE, teamId, { from, to: undefined });
    },
  };
}
