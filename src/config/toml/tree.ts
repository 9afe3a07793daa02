/** A table of a parsed file, before validation. */
export type Tree = { readonly [key: string]: unknown };
export type Path = readonly (string | number)[];

export function isTable(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** A path as one key of a map. Names may contain dots, so joining with dots would be ambiguous. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

export function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const part of path) {
    if (Array.isArray(value) && typeof part === 'number') value = value[part];
    else if (isTable(value)) value = value[part];
    else return undefined;
  }
  return value;
}

/** The table without the values at the paths; a path into a list removes the whole list, so that no index shifts. */
export function without(tree: Tree, paths: readonly Path[]): Tree {
  const byName = Map.groupBy(paths, ([name]) => name);
  const kept = Object.entries(tree).flatMap(([name, value]) => {
    const beneath = byName.get(name)?.map((path) => path.slice(1));
    if (beneath === undefined) return [[name, value]];
    if (!isTable(value) || beneath.some(({ length }) => length === 0)) return [];
    return [[name, without(value, beneath)]];
  });
  return Object.fromEntries(kept);
}

/** Checked before anything walks through the tree by recursion. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** Agents are named by id, everything else as in the file. */
export function shownPath(path: Path, tree: Tree): string {
  return path.reduce<string>((text, part, index) => {
    if (typeof part === 'string') return text === '' ? shortened(part) : `${text}.${shortened(part)}`;
    const id = index === 1 && path[0] === 'agents' ? valueAt(tree, ['agents', part, 'id']) : undefined;
    return `${text}[${typeof id === 'string' ? id : part}]`;
  }, '');
}

const SHOWN_LENGTH = 80;

function shortened(name: string): string {
  return name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}…` : name;
}

/** Values that are never shown, whatever their origin. A URL may contain a password. */
export function isSecretPath(path: Path): boolean {
  const name = String(path.at(-1));
  return path[0] === 'queue' || (/key$|token|secret|password|credential/i.test(name) && !/tokens$/.test(name));
}

/** Replaces a secret within a URL. */
const MASK = '***';
const SECRET_NAME = /key|token|secret|password|passwd|credential|signature/i;

/** A URL without user, password and query values with secret names. Other text is unchanged. */
export function withoutCredentials(text: string): string {
  if (!text.includes('://')) return text;
  if (!URL.canParse(text) || hasStrayUserPart(text)) return withoutUserPart(text);
  const url = new URL(text);
  const secrets = [...url.searchParams.keys()].filter((name) => SECRET_NAME.test(name));
  if (url.username === '' && url.password === '' && secrets.length === 0) return text;
  if (url.username !== '' || url.password !== '') url.username = MASK;
  url.password = '';
  for (const name of secrets) url.searchParams.set(name, MASK);
  return url.href;
}

/**
 * Whether an `@` follows the host, because a password has an unescaped `/`, `?` or `#`: a part of it then reads as the
 * path or as the name of a parameter. The value of a parameter may contain one.
 */
export function hasStrayUserPart(text: string): boolean {
  const { pathname, searchParams, hash } = new URL(text);
  return [pathname, ...searchParams.keys(), hash].some((part) => part.includes('@'));
}

/** User, password and secret query values of a URL, as written and decoded. */
export function credentialsIn(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const { username, password, searchParams } = new URL(text);
  const inQuery = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  const found = [password === '' ? username : password, ...inQuery].filter((value) => value !== '');
  return found.length === 0 ? [] : [text, ...found, ...found.map(decoded)];
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The part before the last `@` of a malformed address may be a password, and so may a value of its query. */
function withoutUserPart(text: string): string {
  const at = text.lastIndexOf('@');
  const shown = at === -1 ? text : `${text.slice(0, text.indexOf('://'))}://${MASK}${text.slice(at)}`;
  return shown.replace(PARAMETER, (whole, name: string) => (SECRET_NAME.test(name) ? `${name}=${MASK}` : whole));
}

const PARAMETER = /(?<=[?&])([^?&#=]*)=[^&#]*/g;
