import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, StrataError } from '../domain/errors.ts';
import { requireObject } from '../util/errors/require-object.ts';
import { packageFile } from '../util/files/package-file.ts';
import { readText } from '../util/files/text-file.ts';
import { didYouMean } from '../util/text/did-you-mean.ts';
import { samplesOf } from './samples.ts';
import { compileTemplate, type Template, type TemplateFile, templateOfKept } from './template.ts';
import {
  type AgentPrompts,
  type PromptLibrary,
  type PromptName,
  type PromptSource,
  promptNames,
  promptSourceOf,
  promptVariables,
} from './variables.ts';

/** The prompts that come with Strata. */
export const builtInPrompts = packageFile('prompts');

/** Where `createPromptLibrary` finds its files. */
export interface PromptLibraryOptions {
  /** Folder with one subfolder per language. Default: the built-in prompts. */
  readonly builtIn?: string;
  /** Read immediately. Prompts in a folder of your own are also rendered once, so a broken one prevents the start. */
  readonly sources?: readonly PromptSource[];
}

export interface PromptFile {
  readonly name: PromptName;
  /** The file that the source uses. */
  readonly file: string;
  readonly hash: string;
  readonly origin: 'own' | 'language' | 'built-in';
  /** True if the built-in prompt has changed since the file was copied from it. */
  readonly outdated: boolean;
}

/** A library whose files can be read again and listed. */
export interface EditablePromptLibrary extends PromptLibrary {
  /** Reloads the files of the sources. On error, throws `PROMPT_INVALID` and keeps the previous ones. */
  load(sources: readonly PromptSource[]): void;
  /** The file behind each prompt of a source. */
  list(from: PromptSource): readonly PromptFile[];
}

/** Every problem of the prompts of these agents, each once. */
export function promptProblemsOf(agents: readonly AgentPrompts[]): readonly string[] {
  return [...new Set(agents.flatMap((agent) => promptProblems(promptSourceOf(agent))))];
}

/** Every problem of a source's prompts, one sentence each, for `prompts check`. */
export function promptProblems(from: PromptSource, builtIn = builtInPrompts): readonly string[] {
  const problems: string[] = [];
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      problems.push(describe(error));
    }
  };
  for (const folder of ownFoldersOf(from)) attempt(() => refuseStrangers(folder));
  attempt(() => {
    const folders = foldersOf(builtIn, from);
    const fragments = readFragments(folders);
    for (const name of promptNames) attempt(() => tryOut(name, compilerOf(name, folders, fragments)()));
  });
  return problems;
}

/** Compiles a template with its first use. */
type Compiler = () => Template;
type Shelf = ReadonlyMap<PromptName, Compiler>;

/** Templates of earlier requests that are ready for use. */
const MAX_COMPILED = 100;

/**
 * Looks up each prompt in the agent's own folder (first in the subfolder of its language), then in its language, then in
 * English. Files override each other as a whole.
 */
export function createPromptLibrary(options: PromptLibraryOptions = {}): EditablePromptLibrary {
  requireObject(options, 'createPromptLibrary', '{ sources: [{ language: "en", folder: "prompts" }] }');
  const builtIn = options.builtIn ?? builtInPrompts;
  let shelves = read(builtIn, options.sources ?? []);
  const compiled = new Map<string, Template>();

  const shelfOf = (from: PromptSource): Shelf => {
    const found = shelves.get(idOf(from));
    if (found) return found;
    const shelf = readShelf(builtIn, from);
    shelves = new Map(shelves).set(idOf(from), shelf);
    return shelf;
  };

  return {
    load(sources) {
      shelves = read(builtIn, sources);
    },
    list(from) {
      const language = existsSync(join(builtIn, from.language)) ? from.language : 'en';
      const plain = shelfOf({ language, folder: '' });
      return [...shelfOf(from)].map(([name, compiler]) => {
        const { file, hash, base } = compiler();
        const outdated = base !== null && base !== templateOf(plain, name).hash;
        return { name, file, hash, origin: originOf(file, { builtIn, from }), outdated };
      });
    },
    render(name, variables, from) {
      const template = templateOf(shelfOf(from), name);
      return { text: template.render(promptVariables[name].parse(variables)), hash: template.hash };
    },
    keep: (name, from) => templateOf(shelfOf(from), name).kept,
    renderKept: (name, variables, kept) => {
      const schema = promptVariables[name];
      const key = `${name} ${kept}`;
      const known = compiled.get(key);
      const template = known ?? templateOfKept(kept, schema);
      if (known === undefined && compiled.size >= MAX_COMPILED) compiled.clear();
      compiled.set(key, template);
      return template.render(schema.parse(variables));
    },
  };
}

function idOf(from: PromptSource): string {
  return `${from.language}\n${from.folder}`;
}

function read(builtIn: string, sources: readonly PromptSource[]): ReadonlyMap<string, Shelf> {
  return new Map(sources.map((source) => [idOf(source), readShelf(builtIn, source)]));
}

/** The tests try out the built-in prompts; doing that at each start would delay it. */
function readShelf(builtIn: string, from: PromptSource): Shelf {
  const folders = foldersOf(builtIn, from);
  for (const folder of ownFoldersOf(from)) refuseStrangers(folder);
  const fragments = readFragments(folders);
  const shelf = new Map(promptNames.map((name) => [name, compilerOf(name, folders, fragments)]));
  if (from.folder !== '') for (const [name, compiler] of shelf) tryOut(name, compiler());
  return shelf;
}

const NO_LANGUAGE = 'Strata has no prompts in this language; set prompts to a folder with your own';
const NO_PROMPTS =
  'the prompts of Strata are missing. A bundler must leave out the package stratabot, which reads files of its own; otherwise, install it again';

function foldersOf(builtIn: string, from: PromptSource): readonly string[] {
  const language = join(builtIn, from.language);
  if (from.folder === '' && !existsSync(language)) {
    const problem = existsSync(join(builtIn, 'en')) ? NO_LANGUAGE : NO_PROMPTS;
    throw new StrataError('PROMPT_INVALID', { file: language, problem });
  }
  return [...ownFoldersOf(from), language, join(builtIn, 'en')];
}

/** The agent's folder, and before it the subfolder of its language if there is one. */
function ownFoldersOf({ folder, language }: PromptSource): readonly string[] {
  if (folder === '') return [];
  const own = join(folder, language);
  return existsSync(own) ? [own, folder] : [folder];
}

/** The text is read now, so that an update of the package does not mix prompts of two versions in a running process. */
function compilerOf(
  name: PromptName,
  folders: readonly string[],
  fragments: ReadonlyMap<string, TemplateFile>,
): Compiler {
  const file = winnerOf(folders, `${name}.md.hbs`);
  const text = guarded(file, () => readText(file));
  let template: Template | null = null;
  return () => {
    template ??= guarded(file, () => compileTemplate({ file, text }, { schema: promptVariables[name], fragments }));
    return template;
  };
}

function tryOut(name: PromptName, template: Template): void {
  guarded(template.file, () => {
    for (const sample of samplesOf(promptVariables[name])) template.render(sample);
  });
}

function winnerOf(folders: readonly string[], name: string): string {
  const files = folders.map((folder) => join(folder, name));
  return files.find((file) => existsSync(file)) ?? files.at(-1) ?? name;
}

/** The first folder with the fragment wins, as for prompts. */
function readFragments(folders: readonly string[]): ReadonlyMap<string, TemplateFile> {
  const fragments = new Map<string, TemplateFile>();
  for (const folder of [...folders].reverse()) {
    for (const file of filesIn(join(folder, 'fragments'))) {
      guarded(file, () => fragments.set(basename(file, '.hbs'), { file, text: readText(file) }));
    }
  }
  return fragments;
}

/** Otherwise a misspelt file would be ignored silently. */
function refuseStrangers(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) {
    const problem = stats === undefined ? 'there is no such folder' : 'it is not a folder';
    throw new StrataError('PROMPT_INVALID', { file: folder, problem });
  }
  const known: readonly string[] = promptNames;
  for (const file of filesIn(folder)) {
    const name = basename(file, '.md.hbs');
    if (known.includes(name)) continue;
    const hint = didYouMean(name, known);
    const problem = `no prompt has this name${hint === null ? '' : `; did you mean ${hint}.md.hbs?`}`;
    throw new StrataError('PROMPT_INVALID', { file, problem });
  }
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return guarded(folder, () => readdirSync(folder))
    .filter((name) => name.endsWith('.hbs'))
    .map((name) => join(folder, name));
}

function guarded<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new StrataError('PROMPT_INVALID', { file, problem: describe(error) }, { cause: error });
  }
}

function templateOf(shelf: Shelf, name: PromptName): Template {
  const compiler = shelf.get(name);
  if (!compiler)
    throw new StrataError('PROMPT_INVALID', { file: `${name}.md.hbs`, problem: 'there is no such prompt' });
  return compiler();
}

function originOf(
  file: string,
  where: { readonly builtIn: string; readonly from: PromptSource },
): PromptFile['origin'] {
  if (where.from.folder !== '' && file.startsWith(join(where.from.folder, '/'))) return 'own';
  return file.startsWith(join(where.builtIn, 'en', '/')) ? 'built-in' : 'language';
}
