/** Close codes after which trying again is useless, and what has to be done. */
const BY_CLOSE_CODE: ReadonlyMap<number, Refusal> = new Map([
  [
    4004,
    {
      reason: 'the token is not valid',
      remedy:
        'Copy a fresh one from the developer portal (Bot, Reset Token) into the variable that [channels.discord] token names',
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
  [4012, { reason: 'the version of the gateway is no longer served', remedy: 'Update Strata' }],
  [
    4013,
    { reason: 'the intents are not valid', remedy: 'Update Strata, or remove gateway_url from [channels.discord]' },
  ],
  [
    4014,
    {
      reason: 'the bot may not read the content of messages',
      remedy:
        'Switch on "Message Content Intent" in the developer portal (Bot, Privileged Gateway Intents), or set message_content = false in [channels.discord]',
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
