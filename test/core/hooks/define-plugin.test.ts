import { expect, it } from 'vitest';
import { defineEngine, definePlugin } from '../../../src/adapter-kit.ts';

/** JavaScript, so a definition may have any shape. */
function opened(definition: object | undefined): unknown {
  return definePlugin(definition as never).open({});
}

const engine = defineEngine({ id: 'own', assemble: () => Promise.reject(new Error('unused')) });

it.each<[object | undefined, string]>([
  [undefined, 'The plugin (without a name) cannot be used: expected an object, got undefined'],
  [{ tool: [] }, 'cannot be used: name: is missing; unknown key tool, did you mean tools?'],
  [{ name: 'My plugin' }, 'name: expected lower-case letters, digits, - and _'],
  [{ name: 'own', engines: { own: { info: engine.info, assemble: engine.assemble } } }, 'engines.own: expected'],
])('definePlugin refuses %j', (definition, problem) => {
  expect(() => opened(definition)).toThrow(problem);
});

it('definePlugin accepts an engine with all its methods', () => {
  expect(opened({ name: 'own', engines: { own: engine } })).toMatchObject({ engines: { own: engine } });
});
