import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey } from '../../../src/adapter-kit.ts';
import { VIEWER_ROLES, type ViewerRole } from '../../../src/inspection/viewer.ts';
import { scriptedModel } from '../../core/compaction/compaction.world.ts';
import { anyCharacter } from '../../fixtures/any-character.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

let inspected: InspectorWorld;
const DIRECT = makeKey({ platform: 'test', workspace: 'here', channel: 'secret' });
const NAMES: Readonly<Record<ViewerRole, string>> = { operator: 'ada', moderator: 'bob', viewer: 'eve' };

beforeAll(async () => {
  inspected = await createInspectorWorld({
    models: [scriptedModel(() => ({ text: 'I see.' }))],
    settings: {
      identity_header: 'x-user',
      proxies: ['127.0.0.1'],
      operators: ['ada'],
      moderators: ['bob'],
    },
  });
  const { world } = inspected;
  await world.say('The lantern hangs in the hall.');
  await world.settled();
  await world.say('The key is below the mat.', { key: DIRECT, audience: 'dm' });
  await world.settled();
});
afterAll(async () => {
  await inspected[Symbol.asyncDispose]();
});

function visit(path: string, role: ViewerRole): Promise<Response> {
  return fetch(`${inspected.base}${path}`, { redirect: 'manual', headers: { 'x-user': NAMES[role] } });
}

const here = () => `/c/${encodeURIComponent(inspected.world.key)}`;
const direct = `/c/${encodeURIComponent(DIRECT)}`;
const EVERYBODY = { viewer: 200, moderator: 200, operator: 200 };
const READERS = { viewer: 403, moderator: 200, operator: 200 };
const OPERATORS = { viewer: 403, moderator: 403, operator: 200 };

describe('every page by role', () => {
  it.each([
    ['/', EVERYBODY],
    ['/costs', EVERYBODY],
    ['/audit', EVERYBODY],
    ['/find?q=lantern', EVERYBODY],
    ['/memories', EVERYBODY],
    ['/memories?view=graph', EVERYBODY],
    ['/settings', OPERATORS],
    ['/settings/prompts/main/transcript', OPERATORS],
    ['HERE', EVERYBODY],
    ['HERE?at=1', EVERYBODY],
    ['HERE/history?at=2&from=1&to=2', EVERYBODY],
    ['HERE/what-if?compaction.background_threshold=0.5', EVERYBODY],
    ['HERE/what-if/outcome?compaction.background_threshold=0.5', EVERYBODY],
    ['HERE/context', READERS],
    ['HERE/r/2', READERS],
    ['HERE/r/2/request.json', READERS],
    ['/memories?place=test:here:talk', READERS],
    [direct, EVERYBODY],
    [`${direct}/what-if`, EVERYBODY],
    [`${direct}/context`, OPERATORS],
    [`${direct}/r/2`, OPERATORS],
    ['/memories?place=test:here:secret', OPERATORS],
  ])('%s', async (path, expected) => {
    const statuses = VIEWER_ROLES.map(async (role) => [role, (await visit(path.replace('HERE', here()), role)).status]);
    expect(Object.fromEntries(await Promise.all(statuses))).toEqual(expected);
  });

  it('says who may see a refused page', async () => {
    expect(await (await visit(`${here()}/context`, 'viewer')).text()).toContain(
      '>The text of requests is for moderators and operators.<',
    );
    expect(await (await visit('/settings', 'moderator')).text()).toContain('>The page of settings is for operators.<');
  });

  it('shows no text above the role', async () => {
    const texts = async (role: ViewerRole) => {
      const paths = ['/', '/find?q=lantern', '/find?q=mat', '/memories', '/memories?view=graph', here(), direct];
      const pages = paths.map(async (path) => await (await visit(path, role)).text());
      return (await Promise.all(pages)).join('\n').replaceAll(/(?:value="|Search: |q=)(?:lantern|mat)/gu, '');
    };
    expect(await texts('viewer')).not.toMatch(/lantern hangs|below the mat/u);
    expect(await texts('moderator')).toContain('lantern hangs');
    expect(await texts('moderator')).not.toContain('below the mat');
    expect(await texts('operator')).toContain('below the mat');
  });
});

describe('any parameters', () => {
  const names = ['q', 'at', 'place', 'person', 'kind', 'state', 'audience', 'age', 'view', 'after', 'named', 'days'];
  const more = ['show', 'hide', 'filtered', 'changed', 'conversation', 'engine', 'context_window'];
  const value = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 40 }),
    fc.constantFrom('"><script>alert(1)</script>', '0', '-1', '1e9', '999999999999', 'graph', '%00', '__proto__'),
  );

  it.each(['/', '/find', '/memories', '/costs', '/settings', '/settings/prompts/main/clock', 'HERE', 'HERE/what-if'])(
    'of %s give a page without their markup',
    async (path) => {
      const parameters = fc.dictionary(fc.constantFrom(...names, ...more), value, { maxKeys: 5 });
      await fc.assert(
        fc.asyncProperty(parameters, async (given) => {
          const response = await visit(`${path.replace('HERE', here())}?${new URLSearchParams(given)}`, 'operator');
          expect([200, 400, 404]).toContain(response.status);
          expect(await response.text()).not.toContain('<script>');
        }),
        { numRuns: 25 },
      );
    },
  );
});
