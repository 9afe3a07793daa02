import { resolve } from 'node:path';
import { describe } from '../domain/errors.ts';
import { readText } from '../util/files/text-file.ts';
import type { Report } from './report.ts';
import type { AgentEntry } from './schema.ts';
import type { Sections } from './sections.ts';
import type { ConfigSource } from './toml/source.ts';
import type { Path } from './toml/tree.ts';

type OwnSection = NonNullable<AgentEntry['sections']>[number];

/** Keys of the parts that every request can have. */
const TAKEN = ['tools', 'persona', 'policy', 'instructions', 'guidance', 'place', 'tail', 'reserve'];

interface Reading {
  readonly source: ConfigSource;
  readonly report: Report;
  /** A text beside a file is that of the file. Default: false. */
  readonly areFilesRead?: boolean;
}

/** Reads the files of the agents' own sections, so that a changed file is a changed configuration. */
export function withSectionTexts<Layers extends Pick<Sections, 'defaults' | 'agents'>>(
  layers: Layers,
  reading: Reading,
): Layers {
  const agents = layers.agents.map(({ index, entry }) => ({
    index,
    entry: withTexts(entry, ['agents', index], reading),
  }));
  return { ...layers, agents, defaults: withTexts(layers.defaults, ['defaults'], reading) };
}

function withTexts<Layer extends { readonly sections?: OwnSection[] | undefined }>(
  layer: Layer,
  base: Path,
  reading: Reading,
): Layer {
  const { sections } = layer;
  if (sections === undefined) return layer;
  const keys = sections.map(({ key }) => key);
  const read = sections.map((section, index) => {
    const path = [...base, 'sections', index];
    const isTwice = keys.indexOf(section.key) !== index;
    if (isTwice) reading.report.add([...path, 'key'], `two sections have the key "${section.key}"`);
    if (TAKEN.includes(section.key))
      reading.report.add([...path, 'key'], `"${section.key}" is a part of every request`);
    return withText(section, path, reading);
  });
  return { ...layer, sections: read };
}

function withText(section: OwnSection, path: Path, { source, report, areFilesRead = false }: Reading): OwnSection {
  const { text, file } = section;
  if (areFilesRead && text !== undefined) return section;
  if ((text === undefined) === (file === undefined)) {
    report.add(path, 'a section needs either a text or a file');
    return section;
  }
  if (file === undefined) return section;
  const whole = resolve(source.folder, file);
  try {
    return { ...section, file: whole, text: readText(whole) };
  } catch (error) {
    report.add([...path, 'file'], `${file}: ${describe(error)}`);
    return section;
  }
}
