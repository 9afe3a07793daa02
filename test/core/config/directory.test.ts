import { expect, test } from 'vitest';
import { type AgentOverrides, defaultAgent } from '../../../src/config/defaults.ts';
import { createAgentDirectory } from '../../../src/config/directory.ts';
import { parseKey } from '../../../src/domain/key.ts';

function directory(...agents: readonly AgentOverrides[]) {
  const config = { agents: agents.map((agent) => defaultAgent(agent)) };
  return createAgentDirectory(() => config);
}

const key = (text: string) => parseKey(text).key;

test('the default agent serves conversations that no route matches', () => {
  const agents = directory(
    { id: 'one', default: false },
    { id: 'two', default: true },
    { id: 'three', default: false, routes: [{ match: 'slack:*' }] },
  );
  expect(agents.agentFor(key('discord:1:2')).id).toBe('two');
  expect(agents.agentFor(key('slack:1:2')).id).toBe('three');
  expect(agents.agent('one')?.id).toBe('one');
  expect(agents.agent('four')).toBeNull();
  expect(agents.list().map((agent) => agent.id)).toEqual(['one', 'two', 'three']);
});

test('the most specific pattern wins; among equals the first', () => {
  const agents = directory(
    { id: 'wide', routes: [{ match: 'discord:*' }, { match: 'slack:a:*' }] },
    { id: 'narrow', default: false, routes: [{ match: 'discord:1:2' }, { match: 'slack:*:b' }] },
  );
  expect(agents.agentFor(key('discord:1:2')).id).toBe('narrow');
  expect(agents.agentFor(key('discord:1:3')).id).toBe('wide');
  expect(agents.agentFor(key('slack:a:b')).id).toBe('wide');
});

test('a channel’s pattern serves its threads, a thread’s only itself', () => {
  const agents = directory(
    { id: 'main' },
    { id: 'channel', default: false, routes: [{ match: 'discord:1:2' }] },
    { id: 'thread', default: false, routes: [{ match: 'discord:1:2:9' }] },
  );
  expect(agents.agentFor(key('discord:1:2:8')).id).toBe('channel');
  expect(agents.agentFor(key('discord:1:2:9')).id).toBe('thread');
  expect(agents.agentFor(key('discord:1:20')).id).toBe('main');
});

test('characters of patterns other than * stand for themselves', () => {
  const agents = directory({ id: 'main' }, { id: 'odd', default: false, routes: [{ match: 'slack:T.1:(a|b)+' }] });
  expect(agents.agentFor(key('slack:T.1:(a|b)+')).id).toBe('odd');
  expect(agents.agentFor(key('slack:Tx1:a')).id).toBe('main');
});

// Shows: S7
test('a route overrides mode and thresholds in its conversations only', () => {
  const agents = directory({
    id: 'main',
    routes: [{ match: 'discord:1:2', mode: 'active', compaction: { background_threshold: 0.5 } }],
  });
  const plain = defaultAgent();
  expect(agents.agentFor(key('discord:1:2'))).toMatchObject({
    mode: 'active',
    compaction: { ...plain.compaction, background_threshold: 0.5 },
  });
  expect(agents.agentFor(key('discord:1:3'))).toMatchObject({ mode: 'mention', compaction: plain.compaction });
});

test('a new configuration is seen at the next question', () => {
  let config = { agents: [defaultAgent({ persona: 'old' })] };
  const agents = createAgentDirectory(() => config);
  expect(agents.agentFor(key('terminal:local:main')).persona).toBe('old');
  config = { agents: [defaultAgent({ persona: 'new' })] };
  expect(agents.agentFor(key('terminal:local:main')).persona).toBe('new');
});
