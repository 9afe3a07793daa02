/** Close codes after which a retry is useless, and what the operator must do. */
const BY_CLOSE_CODE: ReadonlyMap<number, Refusal> = new Map([
  [
    4004,
    {
      reason: 'the token is invalid',
      remedy:
        'Copy a new one from the developer portal (Bot, Reset Token) into the variable named by token in [channels.discord]',
    },
  ],
  [
    4010,
    {
      reason: 'the shards do not exist',
      remedy: 'Every number of shard_ids in [channels.discord] must be below shards',
    },
  ],
  [
    4011,
    {
      reason: 'the bot is in too many servers for so few shards',
      remedy: 'Set shards = "auto" in [channels.discord]',
    },
  ],
  [4012, { reason: 'the gateway version is no longer supported', remedy: 'Update Strata' }],
  [4013, { reason: 'the intents are invalid', remedy: 'Update Strata, or remove gateway_url from [channels.discord]' }],
  [
    4014,
    {
      reason: 'the bot is not allowed to read the content of messages',
      remedy:
        'Enable "Message Content Intent" in the developer portal (Bot, Privileged Gateway Intents), or set message_content = false in [channels.discord]',
    },
  ],
]);

export interface Refusal {
  readonly reason: string;
  readonly remedy: string;
}

export function refusalOf(closeCode: number): Refusal | null {
  return BY_CLOSE_CODE.get(closeCode) ?? null;
}

export const BAD_TOKEN: Refusal = { ...(BY_CLOSE_CODE.get(4004) ?? { reason: '', remedy: '' }) };
