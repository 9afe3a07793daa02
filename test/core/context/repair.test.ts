import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repair } from '../../../src/context/view/repair.ts';
import type { ModelMessage, ToolCall, ToolResult } from '../../../src/ports/model.ts';
import { faults } from '../../fixtures/provider-rules.ts';

const said = (text: string): ModelMessage => ({ role: 'user', content: [{ kind: 'text', text }] });
const answered = (text: string): ModelMessage => ({ role: 'assistant', text, calls: [] });
const call = (callId: string): ToolCall => ({ callId, tool: 'look', input: {} });
const result = (callId: string, text = 'found'): ToolResult => ({ callId, tool: 'look', text, isError: false });
const called = (...ids: string[]): ModelMessage => ({ role: 'assistant', text: '', calls: ids.map(call) });
const gave = (...ids: string[]): ModelMessage => ({ role: 'tool', results: ids.map((id) => result(id)) });

const table: readonly (readonly [string, readonly ModelMessage[]])[] = [
  ['nothing', []],
  ['a leading result', [gave('a'), said('hi')]],
  ['a result after a person', [said('hi'), gave('a'), answered('yes')]],
  ['calls at the start', [called('a'), gave('a')]],
  ['all results missing', [said('hi'), called('a', 'b'), answered('yes')]],
  ['some results missing', [said('hi'), called('a', 'b', 'c'), gave('b'), answered('yes')]],
  ['results in another order', [said('hi'), called('a', 'b'), gave('b', 'a')]],
  ['results in several messages', [said('hi'), called('a', 'b'), gave('b'), gave('a')]],
  ['a result twice', [said('hi'), called('a'), gave('a', 'a')]],
  [
    'a call id that comes again',
    [said('hi'), called('a'), gave('a'), answered('x'), said('ho'), called('a'), gave('a')],
  ],
  ['an id twice in one round', [said('hi'), called('a', 'a'), gave('a', 'a')]],
  ['an empty id', [said('hi'), called(''), gave('')]],
  ['a call cut off at the end', [said('hi'), called('a')]],
  ['a person between call and result', [said('hi'), called('a'), said('ho'), gave('a')]],
  ['the bot twice in a row', [said('hi'), answered('one'), answered('two')]],
  ['the bot before its own calls', [said('hi'), answered('one'), called('a'), gave('a')]],
  ['a blank answer', [said('hi'), answered(' \n'), said('ho')]],
];

describe('odd histories', () => {
  // Shows: T2
  it.each(table)('%s becomes something that every provider takes', (_, messages) => {
    expect(faults(repair(messages))).toEqual([]);
  });

  it('keeps people’s words and every result with its call', () => {
    const messages = [said('hi'), called('a', 'b'), gave('b', 'a'), answered('one'), answered('two'), said('ho')];
    expect(repair(messages)).toEqual([
      said('hi'),
      called('a', 'b'),
      gave('a', 'b'),
      answered('one\n\ntwo'),
      said('ho'),
    ]);
  });

  it('says of a missing result that it is missing', () => {
    const [, , tool] = repair([said('hi'), called('a')]);
    expect(tool).toMatchObject({ role: 'tool', results: [{ callId: 'a', isError: true }] });
  });

  it('gives two rounds with one id their own results', () => {
    const again: ModelMessage = { role: 'tool', results: [result('a', 'second')] };
    const repaired = repair([said('hi'), called('a'), gave('a'), answered('x'), said('ho'), called('a'), again]);
    expect(repaired.at(-1)).toEqual({ role: 'tool', results: [result('a-2', 'second')] });
  });

  it('leaves a sound history as it is', () => {
    const messages = [said('hi'), called('a', 'b'), gave('a', 'b'), answered('yes'), said('ho')];
    expect(repair(messages)).toEqual(messages);
  });

  it('holds for anything', () => {
    const ids = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 4 });
    const message = fc.oneof(
      fc.constant(said('hi')),
      fc.constantFrom('', 'yes').map(answered),
      ids.map((list) => called(...list)),
      ids.map((list) => gave(...list)),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        expect(faults(repair(messages))).toEqual([]);
      }),
    );
  });
});
