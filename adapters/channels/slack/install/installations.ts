import { z } from 'zod';
import type { StateStore } from '../../../../src/adapter-kit.ts';
import type { Vault } from './token-encryption.ts';

const NAMESPACE = 'slack.installations';

/** The app in one workspace, as its people installed it. */
export interface Installation {
  readonly teamId: string;
  readonly teamName: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly token: string;
  /** Only where the app has its tokens renewed. */
  readonly renewal: { readonly refreshToken: string; readonly expiresAt: number } | null;
  readonly installedAt: number;
}

/** What is known of an installation without the key. */
export type Installed = Omit<Installation, 'token' | 'renewal'> & {
  /** The app was removed: what is kept of the workspace is being deleted. */
  readonly isEnding: boolean;
};

/** Every workspace that installed the app, in the store that all gateways share, its tokens encrypted. */
export interface Installations {
  /** Null where the app is not installed, or not any more. Throws `SECRET_UNREADABLE`. */
  find(teamId: string): Promise<Installation | null>;
  list(): Promise<readonly Installed[]>;
  put(installation: Installation): Promise<void>;
  /** Writes renewed tokens, unless the app was removed in between. */
  renew(installation: Installation): Promise<void>;
  /** Throws the token away. The workspace stays listed until it is removed, so that a crash in between is made up for. */
  end(teamId: string): Promise<void>;
  /** Unless it was reinstalled in between. */
  remove(teamId: string): Promise<void>;
}

const rowSchema = z.object({
  teamName: z.string(),
  botUserId: z.string(),
  botId: z.string(),
  installedAt: z.number(),
  /** Empty when the app was removed. */
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
