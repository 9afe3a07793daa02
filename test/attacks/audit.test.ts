import { expect, it } from 'vitest';
import { audited, auditRows } from '../../src/inspection/audit.ts';
import type { Viewer, ViewerRole } from '../../src/inspection/viewer.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { openWorld } from '../core/memory/memory.world.ts';

const MOST = 1000;

function change(name: string, role: ViewerRole, target = 'm1') {
  const viewer: Viewer = { name, role };
  return { viewer, action: 'memory pin', target };
}

// Shows: I14
it('a viewer cannot push out what others changed', async () => {
  await using world = await openWorld();
  const services = { ...world.services, log: silentLog };
  const refuse = (target: string) =>
    audited(services, change('eve', 'viewer', target), () => Promise.reject(new Error('refused'))).catch(
      () => undefined,
    );
  for (let count = 0; count < 3; count += 1) {
    await audited(services, change('ada', 'operator'), async () => undefined);
  }
  const row = { at: 1, who: 'eve', role: 'viewer', action: 'memory pin', target: 'm1', outcome: 'refused' } as const;
  const ids = Array.from({ length: MOST }, () => world.random.id());
  await Promise.all(ids.map((id) => world.state.set('inspector-audit', id, row)));
  await refuse(`m${'1'.repeat(10_000)}`);
  await refuse(`${'1'.repeat(199)}😀`);
  const rows = await auditRows(world);
  expect(rows).toHaveLength(MOST);
  expect(rows.filter(({ who }) => who === 'ada')).toHaveLength(3);
  expect(Math.max(...rows.map(({ target }) => target.length))).toBe(200);
  expect(rows.every(({ target }) => target.isWellFormed())).toBe(true);
});
