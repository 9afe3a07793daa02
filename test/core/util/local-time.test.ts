import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transcriptLine, WHOLE } from '../../../src/compaction/job/transcript-line.ts';
import { defaultAgent } from '../../../src/config/defaults.ts';
import { extendTail } from '../../../src/context/view/cached-head.ts';
import { createFixedPrefixBuilder } from '../../../src/context/view/fixed-prefix.ts';
import { labelOf } from '../../../src/context/view/label.ts';
import { NO_REDUCTION } from '../../../src/context/view/reduce.ts';
import { buildView } from '../../../src/context/view/view.ts';
import { isTimeZone, localDate, localTime } from '../../../src/util/time/local-time.ts';
import { bot, profile, snapshot, user } from '../../fixtures/context.ts';
import { createPlace } from '../../fixtures/place.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

/** A Thursday in UTC. In Kiritimati, it is already Friday. */
const LATE = Date.UTC(2026, 10, 19, 23, 30);
const ISLAND = 'Pacific/Kiritimati';
const MAX_TIME_MS = 8.64e15;

/** The same with a format that remembers nothing. */
function formatted(at: number, timeZone: string) {
  const instant = new Date(at);
  if (Number.isNaN(instant.getTime())) return null;
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  const format = new Intl.DateTimeFormat('en', { ...digits, weekday: 'long', hourCycle: 'h23', timeZone });
  const part = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  const date = `${part['year']?.padStart(4, '0')}-${part['month']}-${part['day']}`;
  return { date, weekday: part['weekday'], time: `${part['hour']}:${part['minute']}` };
}

describe('local time', () => {
  it('shows date, weekday and time of a zone', () => {
    expect(localTime(LATE, 'UTC')).toEqual({ date: '2026-11-19', weekday: 'Thursday', time: '23:30' });
    expect(localTime(LATE, ISLAND)).toEqual({ date: '2026-11-20', weekday: 'Friday', time: '13:30' });
    expect(localTime(Number.NaN, 'UTC')).toBeNull();
    expect(localDate(LATE, ISLAND)).toBe('2026-11-20');
  });

  it('follows daylight saving, with midnight as 00', () => {
    expect(localTime(Date.UTC(2026, 6, 1, 22), 'Europe/Berlin')?.time).toBe('00:00');
    expect(localTime(Date.UTC(2026, 11, 1, 22), 'Europe/Berlin')?.time).toBe('23:00');
  });

  it('gives the same for UTC by either way', () => {
    for (let hour = 0; hour < 10_000; hour += 1) {
      const at = Date.UTC(2023, 0, 1, hour, hour % 60);
      expect(localTime(at, 'Etc/UTC')).toEqual(localTime(at, 'UTC'));
    }
  });

  it('does not depend on the times asked before', () => {
    const zones = ['Etc/UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Monrovia'];
    // Summer time begins or ends in one of the zones, years have one or six digits, or zones are off by seconds.
    const bases = [Date.UTC(2026, 2, 29, 1), Date.UTC(2026, 10, 1, 6), Date.UTC(2026, 3, 4, 15), Date.UTC(1960, 0)];
    const base = fc.constantFrom(...bases, Date.UTC(1972, 0, 7, 0, 45), 0, MAX_TIME_MS, -MAX_TIME_MS);
    const near = fc.double({ min: -150_000, max: 150_000, noNaN: true });
    const odd = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -1e300, -0.5);
    const at = fc.oneof({ weight: 9, arbitrary: fc.tuple(base, near).map(([from, by]) => from + by) }, odd);
    fc.assert(
      fc.property(fc.array(fc.tuple(at, fc.constantFrom(...zones)), { maxLength: 30 }), (asked) => {
        for (const [time, zone] of asked) expect(localTime(time, zone)).toEqual(formatted(time, zone));
      }),
      { numRuns: 300 },
    );
  });

  it('keeps apart the times of a minute that differ', () => {
    const times = (zone: string, ...asked: readonly number[]) => asked.map((at) => localTime(at, zone)?.time);
    const start = Date.UTC(1960, 0);
    expect(times('Africa/Monrovia', start + 10_000, start + 40_000)).toEqual(['23:15', '23:16']);
    expect(times('UTC', MAX_TIME_MS, MAX_TIME_MS + 1)).toEqual(['00:00', undefined]);
    expect(times('UTC', -0.5, -1)).toEqual(['00:00', '23:59']);
  });

  it('has no zone that does not exist, however often asked', () => {
    for (const zone of ['Europe/Atlantis', 'Europe/Atlantis', '', '__proto__']) {
      expect(() => localTime(LATE, zone)).toThrow(RangeError);
      expect(localTime(Number.NaN, zone)).toBeNull();
    }
  });

  it('knows which zones exist', () => {
    expect(isTimeZone('Europe/Berlin')).toBe(true);
    expect(isTimeZone('Europe/Atlantis')).toBe(false);
    expect(() => defaultAgent({ timezone: 'Europe/Atlantis' })).toThrow('time zone');
  });
});

describe('labels in a time zone', () => {
  it('names the weekday beside the date', () => {
    const said = { ...user(1, 'See you'), at: LATE };
    expect(labelOf(said, null)).toBe('[#1 | 2026-11-19 Thu 23:30 | Ada] ');
    expect(labelOf(said, null, ISLAND)).toBe('[#1 | 2026-11-20 Fri 13:30 | Ada] ');
  });

  it('changes transcript lines with the zone, not the cache', () => {
    const said = { ...user(1, 'See you'), at: LATE };
    const line = (timeZone: string) => transcriptLine(said, { seqOf: () => null, longest: WHOLE, timeZone })?.text;
    expect([line('UTC'), line(ISLAND), line('UTC')]).toEqual([
      '[#1 | 2026-11-19 Thu 23:30 | Ada] See you',
      '[#1 | 2026-11-20 Fri 13:30 | Ada] See you',
      '[#1 | 2026-11-19 Thu 23:30 | Ada] See you',
    ]);
  });

  it('shows a settled tail in a new zone', async () => {
    await using place = await createPlace();
    const prefixes = createFixedPrefixBuilder(place.services);
    const tail = extendTail(
      [],
      [user(1, 'One'), bot(2, 1), user(3, 'Two')].map((entry) => ({ ...entry, at: LATE })),
    );
    const shown = (timeZone: string) => {
      const request = {
        profile: profile({ timeZone }),
        snapshot: snapshot(tail),
        readUpto: 3,
        volatile: [],
        steps: [],
      };
      return JSON.stringify(buildView(prefixes, request, NO_REDUCTION).messages);
    };
    expect(shown('UTC')).toContain('[#1 | 2026-11-19 Thu 23:30 | Ada] One');
    expect(shown(ISLAND)).toContain('[#1 | 2026-11-20 Fri 13:30 | Ada] One');
    expect(shown('UTC')).not.toContain('Fri');
  });
});

describe('an agent with a time zone', () => {
  it('reads weekday and local time beside the newest message', async () => {
    const models = [scriptedModel(() => ({ text: 'Good morning.' }), { id: 'test:chat' })];
    await using world = await createBotWorld({ models, agent: { model: 'test:chat', timezone: 'Asia/Tokyo' } });
    await world.say('What date is next Friday?');
    await world.settled();
    const [request] = models[0]?.requests ?? [];
    const time = String.raw`\d{4}-\d{2}-\d{2}`;
    const text = request?.messages.flatMap((message) => (message.role === 'user' ? message.content : [])) ?? [];
    expect(JSON.stringify(text)).toMatch(new RegExp(`Current time: \\w+day, ${time} \\d{2}:\\d{2} Asia/Tokyo`, 'u'));
    expect(JSON.stringify(text)).toMatch(
      new RegExp(`\\| ${time} (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \\d{2}:\\d{2} \\|`, 'u'),
    );
    expect(JSON.stringify(request?.system)).not.toContain('Current time');
  });
});
