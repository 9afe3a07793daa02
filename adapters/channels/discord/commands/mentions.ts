import { Routes } from 'discord.js';
import { type Author, type Clock, withinTime } from '../../../../src/adapter-kit.ts';
import { authorOf, readable } from '../map.ts';
import type { Place } from '../places/place.ts';
import type { Names } from '../places/places.ts';
import type { Rest } from '../web/rest.ts';
import { MENTION, memberSchema, userSchema, type WireInteraction, type WireMessage } from '../wire.ts';

const MAX_PEOPLE = 10;
/**
 * People looked up in a minute because somebody typed an id. Discord answers few such requests at once, and those who
 * press a button wait for one.
 */
export const TYPED_PER_MINUTE = 30;
/** Discord waits three seconds for a first response, which may need most of them. */
const LOOKUP_MS = 700;

type Mention = WireMessage['mentions'][number];

interface Asking {
  readonly interaction: Pick<WireInteraction, 'data'>;
  readonly place: Pick<Place, 'guildId'>;
  readonly names: Names;
  readonly rest: Pick<Rest, 'get'>;
  readonly clock: Clock;
  readonly mayLookUp: () => boolean;
}

/** What a person typed into the options of a command. */
export interface TypedOptions {
  /** Ids are names in them, as in messages. */
  readonly options: Readonly<Record<string, string>>;
  readonly mentions: readonly Author[];
}

/** A mention reaches a command as an id, which would be remembered and looked for as it is. */
export async function readTyped(given: Readonly<Record<string, string>>, asking: Asking): Promise<TypedOptions> {
  const ids = Array.from(Object.values(given).join(' ').matchAll(MENTION), ([, id = '']) => id);
  const found = await Promise.all([...new Set(ids)].slice(0, MAX_PEOPLE).map((id) => personOf(id, asking)));
  const people = found.filter((person) => person !== null);
  const named = Object.entries(given).map(([name, text]) => [name, readable(text, people, asking.names)] as const);
  return { options: Object.fromEntries(named), mentions: people.map((person) => authorOf(person, person.member)) };
}

/** Null if Discord does not say in time who it is. */
async function personOf(id: string, { interaction, place, rest, clock, mayLookUp }: Asking): Promise<Mention | null> {
  const resolved = interaction.data?.resolved;
  const user = resolved?.users.get(id);
  if (user !== undefined) return { ...user, member: resolved?.members.get(id) };
  if (place.guildId === null || !mayLookUp()) return null;
  const asked = rest.get(Routes.guildMember(place.guildId, id)).then((answer) => {
    const { user: person, ...member } = foundSchema.parse(answer);
    return { ...person, member };
  });
  return await withinTime(
    asked.catch(() => null),
    { clock, ms: LOOKUP_MS },
  );
}

const foundSchema = memberSchema.pick({ nick: true }).extend({ user: userSchema });
