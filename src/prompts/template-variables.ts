import { z } from 'zod';

export interface VariableOptions {
  /** The variables that the template may read. */
  readonly schema: z.ZodType;
  /** The helpers that it may call. */
  readonly helpers: ReadonlySet<string>;
  /** The parsed text of `{{> name}}`; null if it does not exist. */
  readonly fragment: (name: string) => hbs.AST.Program | null;
}

export interface VariableUse {
  /** Dotted paths of all variables that it reads. */
  readonly used: ReadonlySet<string>;
  readonly fragmentNames: readonly string[];
  /** Violations, each with its line. */
  readonly problems: readonly string[];
}

/** Analyses a parsed template without running it, and compares its names with those the schema declares. */
export function readVariables(program: hbs.AST.Program, options: VariableOptions): VariableUse {
  const reader: Reader = { ...options, used: new Set(), problems: new Set(), fragmentNames: new Set() };
  readProgram(reader, program, [{ schema: options.schema, path: '' }]);
  return { used: reader.used, fragmentNames: [...reader.fragmentNames].sort(), problems: [...reader.problems] };
}

/** Where names are looked up: all variables, or the item of a list inside its `each`. */
interface Scope {
  readonly schema: z.ZodType;
  readonly path: string;
}
type Scopes = readonly Scope[];

interface Reader extends VariableOptions {
  readonly used: Set<string>;
  readonly problems: Set<string>;
  readonly fragmentNames: Set<string>;
}

function readProgram(reader: Reader, program: hbs.AST.Program | undefined, scopes: Scopes): void {
  for (const node of program?.body ?? []) readNode(reader, node, scopes);
}

function readNode(reader: Reader, node: hbs.AST.Node, scopes: Scopes): void {
  if (isPath(node)) readPath(reader, node, scopes);
  else if (isBlock(node)) readBlock(reader, node, scopes);
  else if (isPartial(node)) readPartial(reader, node, scopes);
  else if (isCall(node)) readCall(reader, node, scopes);
  else if (!isInert(node)) refuse(reader, node, `${node.type} is not supported in prompts`);
}

function readBlock(reader: Reader, block: hbs.AST.BlockStatement, scopes: Scopes): void {
  if (!readHelper(reader, block, scopes)) return;
  const [list] = block.params;
  const item = block.path.original === 'each' && list && isPath(list) ? itemOf(find(list, scopes)) : null;
  readProgram(reader, block.program, item ? [...scopes, item] : scopes);
  readProgram(reader, block.inverse, scopes);
}

function readCall(reader: Reader, call: hbs.AST.MustacheStatement | hbs.AST.SubExpression, scopes: Scopes): void {
  if (call.params.length > 0) readHelper(reader, call, scopes);
  else readNode(reader, call.path, scopes);
}

type Call = hbs.AST.MustacheStatement | hbs.AST.SubExpression | hbs.AST.BlockStatement;

function readHelper(reader: Reader, call: Call, scopes: Scopes): boolean {
  const name = isPath(call.path) ? call.path.original : '';
  for (const parameter of call.params) readNode(reader, parameter, scopes);
  if (reader.helpers.has(name) && call.params.length > 0) return true;
  refuse(reader, call, `"${name}" is not a helper (known: ${[...reader.helpers].join(', ')})`);
  return false;
}

function readPartial(reader: Reader, partial: hbs.AST.PartialStatement, scopes: Scopes): void {
  const name = isPath(partial.name) ? partial.name.original : '';
  if (reader.fragmentNames.has(name)) return;
  const program = reader.fragment(name);
  if (program) {
    reader.fragmentNames.add(name);
    readProgram(reader, program, scopes);
  } else {
    refuse(reader, partial, `there is no fragment "${name}"`);
  }
}

function readPath(reader: Reader, path: hbs.AST.PathExpression, scopes: Scopes): void {
  if (path.data) {
    if (!['first', 'last', 'index'].includes(path.parts[0] ?? '')) refuse(reader, path, `@${path.parts[0]} is unknown`);
    return;
  }
  const found = find(path, scopes);
  if (found) reader.used.add(found.path);
  else
    refuse(reader, path, `"${path.original}" is not a variable of this prompt (known: ${namesIn(scopes).join(', ')})`);
}

function find(path: hbs.AST.PathExpression, scopes: Scopes): Scope | null {
  let scope: Scope | undefined = scopes[scopes.length - 1 - path.depth];
  for (const part of path.parts) scope = scope && fieldOf(scope, part);
  return scope ?? null;
}

function fieldOf(scope: Scope, name: string): Scope | undefined {
  if (!(scope.schema instanceof z.ZodObject) || !Object.hasOwn(scope.schema.shape, name)) return undefined;
  const schema: unknown = scope.schema.shape[name];
  return schema instanceof z.ZodType ? { schema, path: joined(scope.path, name) } : undefined;
}

function itemOf(list: Scope | null): Scope | null {
  if (!(list?.schema instanceof z.ZodArray)) return null;
  const schema: unknown = list.schema.element;
  return schema instanceof z.ZodType ? { schema, path: list.path } : null;
}

/** Dotted paths of every value that a schema declares. A built-in prompt must use all of them. */
export function variablePaths(schema: z.ZodType, path = ''): readonly string[] {
  const item = itemOf({ schema, path });
  if (item) return variablePaths(item.schema, path);
  if (!(schema instanceof z.ZodObject)) return [path];
  return Object.keys(schema.shape).flatMap((name) => {
    const field = fieldOf({ schema, path }, name);
    return field ? variablePaths(field.schema, field.path) : [];
  });
}

function namesIn(scopes: Scopes): readonly string[] {
  const schema = scopes.at(-1)?.schema;
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : ['this'];
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function refuse(reader: Reader, node: hbs.AST.Node, problem: string): void {
  reader.problems.add(`line ${node.loc.start.line}: ${problem}`);
}

function isPath(node: hbs.AST.Node): node is hbs.AST.PathExpression {
  return node.type === 'PathExpression';
}

function isBlock(node: hbs.AST.Node): node is hbs.AST.BlockStatement {
  return node.type === 'BlockStatement';
}

function isPartial(node: hbs.AST.Node): node is hbs.AST.PartialStatement {
  return node.type === 'PartialStatement';
}

function isCall(node: hbs.AST.Node): node is hbs.AST.MustacheStatement | hbs.AST.SubExpression {
  return node.type === 'MustacheStatement' || node.type === 'SubExpression';
}

function isInert(node: hbs.AST.Node): boolean {
  return node.type === 'ContentStatement' || node.type === 'CommentStatement' || node.type.endsWith('Literal');
}
