import type { JsonValue, ModelRequest } from '../../../../src/adapter-kit.ts';

type Options = Record<string, Record<string, JsonValue>>;

/** The settings of a call in the SDK's words; what is not set is left to the provider. */
export function settingsOf({ toolChoice, temperature, effort }: ModelRequest) {
  return {
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(effort === undefined ? {} : { reasoning: effort }),
  };
}

/** Our options with the operator's over them, table by table. */
export function mergeOptions(ours: Options, theirs: ModelRequest['providerOptions'] = {}): Options {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return Object.fromEntries([...names].map((name) => [name, mergeTables(ours[name] ?? {}, theirs[name] ?? {})]));
}

function mergeTables(ours: Readonly<Record<string, JsonValue>>, theirs: Readonly<Record<string, JsonValue>>) {
  const merged = new Map(Object.entries(ours));
  for (const [name, value] of Object.entries(theirs)) {
    const known = merged.get(name);
    merged.set(name, isTable(known) && isTable(value) ? { ...known, ...value } : value);
  }
  return Object.fromEntries(merged);
}

function isTable(value: JsonValue | undefined): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
