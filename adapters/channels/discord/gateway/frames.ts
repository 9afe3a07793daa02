import { z } from 'zod';

/** The gateway's frames, reduced to the fields in use. Everything else that a server sends is ignored. */

export const OPCODES = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  heartbeatAck: 11,
} as const;

const frameSchema = z.object({
  op: z.number(),
  d: z.unknown().optional(),
  s: z.int().nullish().catch(null),
  t: z.string().nullish().catch(null),
});
export type Frame = z.infer<typeof frameSchema>;

/** Null if it is not a frame. */
export function readFrame(text: string): Frame | null {
  try {
    return frameSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

const DEFAULT_BEAT_MS = 41_250;
const MIN_BEAT_MS = 20;
const MAX_BEAT_MS = 300_000;

const helloSchema = z.object({ heartbeat_interval: z.number().positive() });

/** The heartbeat interval in milliseconds. If a hello does not contain one, Discord's usual interval applies. */
export function beatOf(hello: unknown): number {
  const interval = helloSchema.safeParse(hello).data?.heartbeat_interval ?? DEFAULT_BEAT_MS;
  return Math.min(MAX_BEAT_MS, Math.max(MIN_BEAT_MS, interval));
}

const guildSchema = z.looseObject({ id: z.string() });

/** The bot's own id is required, or it would answer itself. Everything else may be missing. */
const readySchema = z.looseObject({
  user: z.looseObject({ id: z.string(), username: z.string().catch('') }),
  guilds: z
    .array(z.unknown())
    .catch([])
    .transform((guilds) => guilds.flatMap((guild) => guildSchema.safeParse(guild).data ?? [])),
  session_id: z.string().nullish().catch(null),
  resume_gateway_url: z.string().nullish().catch(null),
  application: z.looseObject({ id: z.string() }).optional().catch(undefined),
});

export type Ready = z.infer<typeof readySchema> & { readonly application: object };

/** READY with what the library expects of it. */
export function readReady(data: unknown): Ready | null {
  const ready = readySchema.safeParse(data).data;
  return ready === undefined ? null : { ...ready, application: ready.application ?? { id: ready.user.id, flags: 0 } };
}

const bareSchema = z.looseObject({ permission_overwrites: z.null() });
const serverSchema = z.looseObject({ channels: z.array(z.unknown()) });

/** A channel or a server as the library expects it: it drops a server that has a channel with null for its overwrites. */
export function withOverwrites(data: unknown): unknown {
  const server = serverSchema.safeParse(data).data;
  return server === undefined ? listing(data) : { ...server, channels: server.channels.map(listing) };
}

function listing(channel: unknown): unknown {
  const bare = bareSchema.safeParse(channel).data;
  return bare === undefined ? channel : { ...bare, permission_overwrites: [] };
}

const MANY = 1_000;
/** Each shard is a connection. The largest bots have some hundreds. */
const MAX_SHARDS = 10_000;

const informationSchema = z.object({
  url: z
    .url({ protocol: /^wss?$/ })
    .max(2_000)
    .nullish()
    .catch(null),
  shards: z.int().min(1).max(MAX_SHARDS).catch(1),
  session_start_limit: z
    .object({
      total: z.number().catch(MANY),
      remaining: z.number().catch(MANY),
      reset_after: z.number().catch(0),
      max_concurrency: z.int().min(1).catch(1),
    })
    .catch({ total: MANY, remaining: MANY, reset_after: 0, max_concurrency: 1 }),
});

/** The response of `GET /gateway/bot`. Throws if neither it nor the settings contain the gateway's URL. */
export function readInformation(answer: unknown, gatewayUrl: string) {
  const { url, ...rest } = informationSchema.parse(answer);
  const known = gatewayUrl || url;
  if (!known) throw new Error('The REST API returned no gateway URL; set gateway_url in [channels.discord].');
  return { ...rest, url: known };
}
