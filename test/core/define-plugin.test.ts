import { expect, it } from 'vitest';
import { defineEngine, definePlugin } from '../../src/adapter-kit.ts';

/** JavaScript, so a definition may have any shape. */
function opened(definition: object | undefined): unknown {
  return definePlugin(definition as never).open({});
}

const engine = defineEngine({ id: 'own', assemble: () => Promise.reject(new Error('unused')) });

it.each<[object | undefined, string]>([
  [undefined, 'expected object'],
  [{ name: 'My plugin' }, 'name: expected lower-case letters, digits, - and _'],
  [{ name: 'own', engines: { own: { info: engine.info, assemble: engine.assemble } } }, 'engines.own: expected'],
])('definePlugin refuses %j', (definition, problem) => {
  expect(() => opened(definition)).toThrow(problem);
});

it('definePlugin accepts an engine with all its methods', () => {
  expect(opened({ name: 'own', engines: { own: engine } })).toMatchObject({ engines: { own: engine } });
});
