import type { z } from 'zod';
import { describeOrigin, fileOrigin, type Merged, type Origin } from './layers.ts';
import { problemsOf } from './problems.ts';
import type { ConfigSource } from './toml/source.ts';
import { isSecretPath, type Path, pathKey, shownPath } from './toml/tree.ts';

/** Collects all problems, so that one start reports every one of them. */
export interface Report {
  /** A problem in the file. */
  add(path: Path, text: string): void;
  /** A problem of a value that may come from outside the file. `path` is the name of the value. */
  addAt(origin: Origin, problem: { readonly path: Path; readonly text: string }): void;
  /** `config.toml:6:23`, or only the file if the position is unknown. */
  place(path: Path): string;
  /** In the order of the file; problems from elsewhere come last. */
  lines(): readonly string[];
}

interface Line {
  readonly text: string;
  readonly order: number;
}

export function createReport(source: ConfigSource): Report {
  const lines = new Map<string, Line>();
  const originOf = (path: Path): Origin => fileOrigin(path, source.locate);

  const addAt: Report['addAt'] = (origin, problem) => {
    const place = describeOrigin(origin, source.file);
    const name = origin.kind === 'file' || origin.kind === 'default' ? `${shownPath(problem.path, source.tree)}: ` : '';
    const shown = `${place}: ${name}${problem.text}`;
    lines.set(shown, { text: shown, order: orderOf(origin) });
  };

  return {
    add: (path, text) => addAt(originOf(path), { path, text }),
    addAt,
    place: (path) => describeOrigin(originOf(path), source.file),
    lines: () => [...lines.values()].sort((a, b) => a.order - b.order).map((line) => line.text),
  };
}

function orderOf(origin: Origin): number {
  if (origin.kind !== 'file') return Number.MAX_SAFE_INTEGER;
  return origin.position ? origin.position.line * 10_000 + origin.position.column : 0;
}

/** Problems of merged values: once the file is valid, only environment and flags can cause them. */
export function reportProblems(
  error: z.ZodError,
  whole: { readonly schema: z.ZodType; readonly value: unknown; readonly merged: Merged; readonly report: Report },
): void {
  const mayShow = (path: Path): boolean => !isSecretPath(path);
  const { schema, value } = whole;
  for (const problem of problemsOf(error, { schema, value, elsewhere: [], section: '', mayShow })) {
    whole.report.addAt(whole.merged.origins.get(pathKey(problem.path)) ?? { kind: 'default' }, problem);
  }
}
