import { z } from 'zod';
import type { StateStore } from '../../../../src/adapter-kit.ts';
import type { Vault } from './token-encryption.ts';

const NAMESPACE = 'slack.installations';

/** The app in one workspace, as installed there. */
export interface Installation {
  readonly teamId: string;
  readonly teamName: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly token: string;
  /** Only if the app uses token rotation. */
  readonly renewal: { readonly refreshToken: string; readonly expiresAt: number } | null;
  readonly installedAt: number;
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
  /** Stores renewed tokens, unless the app was removed in between. */
  renew(installation: Installation): Promise<void>;
  /** Deletes the token. The workspace stays listed until it is removed, so that a crash in between loses nothing. */
  end(teamId: string): Promise<void>;
  /** Unless it was reinstalled in between. */
  remove(teamId: string): Promise<void>;
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
  renewal: z.object({ refreshToken: z.string(), expiresAt: z.number() }).nullable(),
});

export function createInstallations(state: StateStore, vault: Vault): Installations {
  const read = async (teamId: string): Promise<Row | null> =>
    rowSchema.safeParse(await state.get(NAMESPACE, teamId)).data ?? null;
  const write = (teamId: string, row: Row) => state.set(NAMESPACE, teamId, row);
  const put = async ({ teamId, token, renewal, ...open }: Installation): Promise<void> => {
    await write(teamId, { ...open, sealed: vault.seal(JSON.stringify({ token, renewal }), teamId) });
  };
  return {
    async find(teamId) {
      const row = await read(teamId);
      if (row === null || row.sealed === '') return null;
      const { sealed, ...open } = row;
      return { teamId, ...open, ...sealedSchema.parse(JSON.parse(vault.open(sealed, teamId))) };
    },
    async list() {
      const rows = await state.list(NAMESPACE);
      return rows.flatMap(({ key: teamId, value }) => {
        const row = rowSchema.safeParse(value).data;
        if (row === undefined) return [];
        const { sealed, ...open } = row;
        return [{ teamId, ...open, isEnding: sealed === '' }];
      });
    },
    put,
    async renew(installation) {
      const row = await read(installation.teamId);
      if (row !== null && row.sealed !== '') await put(installation);
    },
    async end(teamId) {
      const row = await read(teamId);
      if (row !== null) await write(teamId, { ...row, sealed: '' });
    },
    async remove(teamId) {
      if ((await read(teamId))?.sealed === '') await state.delete(NAMESPACE, teamId);
    },
  };
}
