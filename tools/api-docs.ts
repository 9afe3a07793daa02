import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'oxc-parser';
import { z } from 'zod';

/** Writes docs/api.md from the sources: every export of every entry of package.json, with its declaration and docstring. */

const root = join(import.meta.dirname, '..');
const output = join(root, 'docs/api.md');

type Statement = ReturnType<typeof parseSync>['program']['body'][number];
type Exported = Extract<Statement, { type: 'ExportNamedDeclaration' }>;

interface Module {
  readonly source: string;
  readonly body: readonly Statement[];
  /** The text of a block comment by the position at which it ends. */
  readonly comments: readonly { readonly text: string; readonly start: number; readonly end: number }[];
}

/** One export: its group, and where its declaration is. */
export interface ApiEntry {
  readonly name: string;
  readonly group: string | null;
  readonly doc: string;
  readonly declaration: string;
}

const manifestSchema = z.object({
  exports: z.record(z.string(), z.union([z.string(), z.object({ default: z.string() })])),
});

/** The entries of the package: the name to import, and the source file behind it. */
export function entryPoints(): readonly { readonly name: string; readonly file: string }[] {
  const { exports } = manifestSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === 'string') return [];
    const file = target.default.replace('./dist/', '').replace(/\.js$/u, '.ts');
    return [{ name: `stratabot${path.slice(1)}`, file: join(root, file) }];
  });
}

/** Everything that a module exports, in its order. A line comment above an export begins a group. */
export function apiOf(file: string): readonly ApiEntry[] {
  const module = parse(file);
  let group: string | null = null;
  const entries = module.body.flatMap((statement) => {
    group = headingAbove(module, statement.start) ?? group;
    return entriesOf(file, module, statement).map((entry) => ({ ...entry, group }));
  });
  return [...new Map(entries.map((entry) => [entry.name, entry])).values()];
}

function entriesOf(file: string, module: Module, statement: Statement): readonly ApiEntry[] {
  if (statement.type === 'ExportAllDeclaration') {
    const all = apiOf(join(dirname(file), statement.source.value));
    return statement.exportKind === 'type' ? all.filter(isType) : all;
  }
  if (statement.type !== 'ExportNamedDeclaration') return [];
  if (statement.declaration !== null) return declared(module, statement);
  const from = statement.source === null ? file : join(dirname(file), statement.source.value);
  return statement.specifiers.flatMap(({ local, exported }) => {
    if (!('name' in local) || !('name' in exported)) return [];
    const found = findDeclaration(from, local.name);
    return found === undefined ? [] : [{ ...found, name: exported.name }];
  });
}

/** `export type *` exports no values. */
function isType({ declaration }: ApiEntry): boolean {
  return /^(?:interface|type) /u.test(declaration);
}

function findDeclaration(file: string, name: string): ApiEntry | undefined {
  return apiOf(file).find((entry) => entry.name === name);
}

function declared(module: Module, statement: Exported): readonly ApiEntry[] {
  const { declaration } = statement;
  const shared = { group: null, doc: docAbove(module, statement.start) };
  const text = module.source.slice(statement.start, statement.end).replace(/^export /u, '');
  if (declaration === null) return [];
  if (declaration.type === 'VariableDeclaration') {
    return declaration.declarations.flatMap(({ id }) =>
      id.type === 'Identifier' ? [{ ...shared, name: id.name, declaration: shortened(text) }] : [],
    );
  }
  if (!('id' in declaration) || declaration.id === null || !('name' in declaration.id)) return [];
  const { name } = declaration.id;
  const list = listBehind(module, text);
  if (list !== null)
    return [{ group: null, doc: shared.doc || list.doc, name, declaration: unionOf(name, list.values) }];
  return [{ ...shared, name, declaration: withoutBodies(module, statement) }];
}

type Variable = Extract<Statement, { type: 'VariableDeclaration' }>['declarations'][number];

/**
 * The list from which a type such as `(typeof ROLES)[number]` is derived, or the object of `keyof typeof TABLE`, if all
 * its values are written there.
 */
function listBehind(module: Module, text: string): { readonly doc: string; readonly values: readonly string[] } | null {
  const [, list, table] = /= (?:\(typeof (\w+)\)\[number\]|keyof typeof (\w+));$/u.exec(text) ?? [];
  for (const statement of module.body) {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declaration?.type !== 'VariableDeclaration') continue;
    const found = declaration.declarations.find(
      ({ id }) => id.type === 'Identifier' && (id.name === list || id.name === table),
    );
    const values = found === undefined ? null : table === undefined ? elementsOf(found) : keysOf(found);
    if (values !== null) return { doc: docAbove(module, statement.start), values };
  }
  return null;
}

function elementsOf({ init }: Variable): readonly string[] | null {
  if (init?.type !== 'TSAsExpression' || init.expression.type !== 'ArrayExpression') return null;
  const { elements } = init.expression;
  const values = elements.flatMap((element) => (element?.type === 'Literal' ? [`'${element.value}'`] : []));
  return values.length === elements.length ? values : null;
}

function keysOf({ init }: Variable): readonly string[] | null {
  const table = init?.type === 'TSAsExpression' ? init.expression : init;
  if (table?.type !== 'ObjectExpression') return null;
  const keys = table.properties.flatMap((property) =>
    property.type === 'Property' && property.key.type === 'Identifier' ? [`'${property.key.name}'`] : [],
  );
  return keys.length === table.properties.length ? keys : null;
}

const MAX_WIDTH = 120;

function unionOf(name: string, values: readonly string[]): string {
  const line = `type ${name} = ${values.join(' | ')};`;
  return line.length <= MAX_WIDTH ? line : `type ${name} =\n${values.map((value) => `  | ${value}`).join('\n')};`;
}

/** Functions and methods end before their bodies; other declarations are whole. */
function withoutBodies({ source }: Module, { start, end, declaration }: Exported): string {
  const bodies = bodiesOf(declaration);
  let text = '';
  let at = start;
  for (const body of bodies) {
    text += `${source.slice(at, body.start).trimEnd()};`;
    at = body.end;
  }
  return (text + source.slice(at, end)).replace(/^export /u, '').replace(/^async /u, '');
}

function bodiesOf(declaration: Exported['declaration']): readonly { readonly start: number; readonly end: number }[] {
  if (declaration?.type === 'FunctionDeclaration') return declaration.body === null ? [] : [declaration.body];
  if (declaration?.type !== 'ClassDeclaration') return [];
  return declaration.body.body.flatMap((member) =>
    member.type === 'MethodDefinition' && member.value.body !== null ? [member.value.body] : [],
  );
}

const MAX_VALUE_LINES = 12;

function shortened(text: string): string {
  const lines = text.split('\n');
  return lines.length <= MAX_VALUE_LINES ? text : `${lines[0]?.replace(/ = .*$/u, '')};`;
}

const parsed = new Map<string, Module>();

function parse(file: string): Module {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const source = readFileSync(file, 'utf8');
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${relative(root, file)} cannot be parsed: ${errors[0]?.message}`);
  const blocks = comments.map(({ value, start, end, type }) => ({
    text: type === 'Line' ? `//${value}` : value,
    start,
    end,
  }));
  const module = { source, body: program.body, comments: blocks };
  parsed.set(file, module);
  return module;
}

function docAbove({ source, comments }: Module, start: number): string {
  const above = comments.findLast(
    ({ end, text }) => end <= start && text.startsWith('*') && isBlank(source, end, start),
  );
  return above === undefined ? '' : docText(above.text);
}

function headingAbove({ source, comments }: Module, start: number): string | null {
  const above = comments.findLast(
    ({ end, text }) => end <= start && text.startsWith('// ') && isBlank(source, end, start),
  );
  return above === undefined ? null : above.text.slice(3).replace(/\.$/u, '');
}

function isBlank(source: string, from: number, to: number): boolean {
  return source.slice(from, to).trim() === '';
}

/** The comment without its stars; an example becomes a block of code. */
function docText(comment: string): string {
  const lines = comment
    .slice(1)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/u, '').trimEnd());
  const [prose = '', ...examples] = lines.join('\n').split(/^@example\n?/mu);
  return [prose.trim(), ...examples.map((code) => `\`\`\`ts\n${code.trim()}\n\`\`\``)].join('\n\n').trim();
}

/** An example of a docstring, and what of the package it uses. */
export interface Example {
  readonly name: string;
  readonly code: string;
  readonly imports: readonly { readonly file: string; readonly names: readonly string[] }[];
}

/** Every example of what the package exports, once. */
export function examples(): readonly Example[] {
  const exported = new Map<string, string>();
  const found = new Map<string, Example>();
  const entries = entryPoints().flatMap(({ file }) => apiOf(file).map((entry) => ({ ...entry, file })));
  for (const { name, file } of entries) if (!exported.has(name)) exported.set(name, file);
  for (const { name, doc, declaration } of entries) {
    const inside = [...declaration.matchAll(/\/\*(\*[\s\S]*?)\*\//gu)].map(([, comment = '']) => docText(comment));
    for (const [, code = ''] of [doc, ...inside].join('\n').matchAll(/^```ts\n([\s\S]*?)^```$/gmu)) {
      found.set(code, { name, code, imports: importsOf(code, exported) });
    }
  }
  return [...found.values()];
}

function importsOf(code: string, exported: ReadonlyMap<string, string>): Example['imports'] {
  const words = new Set(code.match(/\b[A-Za-z]\w*\b/gu));
  const used = [...exported].filter(([name]) => words.has(name));
  const files = Map.groupBy(used, ([, file]) => file);
  return [...files].map(([file, names]) => ({ file, names: names.map(([name]) => name) }));
}

/** The page for all entries. */
export function renderApi(): string {
  const described = new Map<string, string>();
  const sections = entryPoints().flatMap(({ name, file }) => {
    const isKnown = (entry: ApiEntry) => described.get(entry.name) === entry.declaration;
    const { again = [], first = [] } = Object.groupBy(apiOf(file), (entry) => (isKnown(entry) ? 'again' : 'first'));
    for (const entry of first) described.set(entry.name, entry.declaration);
    return [
      `## ${name}\n`,
      ...(again.length === 0 ? [] : [`Also exports, as described above: ${again.map(linkTo).join(', ')}.\n`]),
      ...[...Map.groupBy(first, ({ group }) => group)].flatMap(([group, entries]) => [
        ...(group === null ? [] : [`### ${group}\n`]),
        ...entries.map(renderEntry),
      ]),
    ];
  });
  const page = sections.join('\n');
  return `# API reference\n\nGenerated from the sources by \`npm run docs\`.\n\n${contentsOf(page)}\n\n${page}`;
}

const linkTo = ({ name }: ApiEntry): string => `[${name}](#${name.toLowerCase()})`;

function renderEntry({ name, doc, declaration }: ApiEntry): string {
  return `#### ${name}\n\n${doc === '' ? '' : `${doc}\n\n`}\`\`\`ts\n${declaration}\n\`\`\`\n`;
}

/** Links to the modules and their groups. */
function contentsOf(page: string): string {
  return headingsOf(`# API reference\n${page}`)
    .filter(({ level }) => level === 2 || level === 3)
    .map(({ level, title, anchor }) => `${'  '.repeat(level - 2)}- [${title}](#${anchor})`)
    .join('\n');
}

export interface Heading {
  readonly level: number;
  readonly title: string;
  /** As GitHub makes it: a number follows a title that was there before. */
  readonly anchor: string;
}

/** The headings of a page in Markdown, with their anchors. */
export function headingsOf(page: string): readonly Heading[] {
  const seen = new Map<string, number>();
  const text = page.replaceAll(/^```[\s\S]*?^```$/gmu, '');
  return [...text.matchAll(/^(#+) (.+)$/gmu)].map(([, marks = '', title = '']) => {
    const slug = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return { level: marks.length, title, anchor: before === 0 ? slug : `${slug}-${before}` };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(output, renderApi());
