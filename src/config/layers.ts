import type { Locate, Position } from './toml/locate.ts';
import { isTable, type Path, pathKey, type Tree } from './toml/tree.ts';

/** Where a value comes from. */
export type Origin =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly path: Path; readonly position: Position | null }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'flag'; readonly flag: string };

/** The position is looked up when it is read: a start without problems shows none. */
export function fileOrigin(path: Path, locate: Locate): Origin {
  return {
    kind: 'file',
    path,
    get position() {
      return locate(path);
    },
  };
}

/** Some values, and the origin of each. */
export interface Layer {
  readonly values: Tree;
  readonly originOf: (path: Path) => Origin;
}

export interface Merged {
  readonly values: Tree;
  /** By `pathKey` of each value that is not a table. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/** Merges later layers over earlier ones: tables key by key, everything else as a whole. */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const origins = new Map<string, Origin>();
  let values: Tree = {};
  for (const layer of layers) values = overlay(values, layer.values, { path: [], layer, origins });
  return { values, origins };
}

interface Place {
  readonly path: Path;
  readonly layer: Layer;
  readonly origins: Map<string, Origin>;
}

function overlay(below: Tree, above: Tree, place: Place): Tree {
  const merged: Record<string, unknown> = { ...below };
  for (const [name, value] of Object.entries(above)) {
    if (value === undefined) continue;
    const path = [...place.path, name];
    const beneath = merged[name];
    if (isTable(value)) {
      merged[name] = overlay(isTable(beneath) ? beneath : {}, value, { ...place, path });
    } else {
      merged[name] = value;
      place.origins.set(pathKey(path), place.layer.originOf(path));
    }
  }
  return merged;
}

/** For people: `config.toml:6:23`, `default`, `environment STRATA_MODEL`, `--model`. */
export function describeOrigin(origin: Origin, file: string): string {
  switch (origin.kind) {
    case 'default':
      return 'default';
    case 'file':
      return origin.position ? `${file}:${origin.position.line}:${origin.position.column}` : file;
    case 'environment':
      return `environment ${origin.variable}`;
    case 'flag':
      return origin.flag;
    default:
      return origin satisfies never;
  }
}
