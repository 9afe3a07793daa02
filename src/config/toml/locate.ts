import { createRequire } from 'node:module';
import type { AST } from 'toml-eslint-parser';
import { type Path, pathKey } from './tree.ts';

/** Both start at 1, as in editors. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export type Locate = (path: Path) => Position | null;

/**
 * The position of each value in a TOML text. A path that is not in the text (a missing key) resolves to the nearest
 * enclosing table. Positions are computed on first use, because a valid file needs none. A text that this parser rejects,
 * although the one that reads the values accepts it, has none.
 */
export function locator(text: string): Locate {
  let positions: ReadonlyMap<string, Position> | null = null;
  return (path) => {
    positions ??= positionsOf(text);
    return find(positions, path);
  };
}

const require = createRequire(import.meta.url);

function positionsOf(text: string): ReadonlyMap<string, Position> {
  const positions = new Map<string, Position>();
  const nodes = nodesOf(text);
  for (const node of nodes) {
    if (node.type === 'TOMLKeyValue') addPair(positions, [], node);
    else addTable(positions, node);
  }
  for (const node of nodes) if (node.type === 'TOMLTable') addParents(positions, node);
  return positions;
}

function nodesOf(text: string): AST.TOMLTopLevelTable['body'] {
  const { parseTOML }: typeof import('toml-eslint-parser') = require('toml-eslint-parser');
  try {
    return parseTOML(text, { tomlVersion: 'latest' }).body[0].body;
  } catch {
    return [];
  }
}

function find(positions: ReadonlyMap<string, Position>, path: Path): Position | null {
  for (let length = path.length; length > 0; length -= 1) {
    const position = positions.get(pathKey(path.slice(0, length)));
    if (position) return position;
  }
  return null;
}

function addTable(positions: Map<string, Position>, table: AST.TOMLTable): void {
  add(positions, table.resolvedKey, table.key);
  for (const pair of table.body) addPair(positions, table.resolvedKey, pair);
}

/** `[a.b]` also creates the table `a`. A header of its own locates it better. */
function addParents(positions: Map<string, Position>, { resolvedKey, key }: AST.TOMLTable): void {
  for (let length = 1; length < resolvedKey.length; length += 1) add(positions, resolvedKey.slice(0, length), key);
}

function addPair(positions: Map<string, Position>, base: Path, pair: AST.TOMLKeyValue): void {
  const names = pair.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value));
  for (let length = 1; length < names.length; length += 1) {
    add(positions, [...base, ...names.slice(0, length)], pair.key);
  }
  addValue(positions, [...base, ...names], pair.value);
}

function addValue(positions: Map<string, Position>, path: Path, value: AST.TOMLContentNode): void {
  add(positions, path, value);
  if (value.type === 'TOMLInlineTable') {
    for (const pair of value.body) addPair(positions, path, pair);
  } else if (value.type === 'TOMLArray') {
    for (const [index, element] of value.elements.entries()) addValue(positions, [...path, index], element);
  }
}

/** A table's position is its first mention. */
function add(positions: Map<string, Position>, path: Path, node: { readonly loc: AST.SourceLocation }): void {
  const key = pathKey(path);
  if (!positions.has(key)) positions.set(key, { line: node.loc.start.line, column: node.loc.start.column + 1 });
}
