import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe } from '../domain/errors.ts';
import { errorCode } from '../util/errors/error-code.ts';

const MAX_STACK_LINES = 60;
const MAX_LINE = 1_000;

/** `plugins/dice.ts:7:9: ReferenceError: sides is not defined`: where and why a plugin's file failed. */
export function describeFailure(error: unknown, file: { readonly path: string; readonly shown: string }): string {
  const line = placeIn(error, file.path) ?? lineOfImport(error, file.path);
  const name =
    error instanceof Error && error.name !== 'Error' && error.name !== 'StrataError' ? `${error.name}: ` : '';
  return `${file.shown}${line === null ? '' : `:${line}`}: ${name}${describe(error)}`;
}

/** The first line of the stack that names the file; for a syntax error it comes before the message. */
export function placeIn(error: unknown, path: string): string | null {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return null;
  const url = pathToFileURL(path).href;
  for (const line of error.stack.split('\n', MAX_STACK_LINES)) {
    for (const name of [url, path]) {
      const at = line.slice(0, MAX_LINE).indexOf(`${name}:`);
      const place = at === -1 ? undefined : /^\d+(?::\d+)?/.exec(line.slice(at + name.length + 1))?.[0];
      if (place !== undefined) return place;
    }
  }
  return null;
}

/** A missing import has no position in the stack, so the importing line is searched in the file. */
function lineOfImport(error: unknown, path: string): string | null {
  if (!(error instanceof Error) || errorCode(error) !== 'ERR_MODULE_NOT_FOUND') return null;
  const [, specifier] = error.message.split("'");
  const wanted = specifier?.split('/').at(-1);
  if (wanted === undefined) return null;
  const lines = textOf(path).split('\n');
  const index = lines.findIndex((line) => line.includes('import') && line.includes(wanted));
  const from = index === -1 ? lines.findIndex((line) => line.includes(wanted)) : index;
  return from === -1 ? null : String(from + 1);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
