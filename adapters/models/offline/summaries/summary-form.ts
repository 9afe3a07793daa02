import type { ModelRequest } from '../../../../src/adapter-kit.ts';
import { findingsIn } from '../findings/findings.ts';
import { sentencesOf } from '../text/sentences.ts';

/** How a summary is written: as prose, or in the sections that the instructions name. */
export interface Form {
  /** What the headings leave of the space. */
  readonly share: number;
  isHeading(line: string): boolean;
  /** `source` are the lines of structured summaries, whose sentences keep their sections. */
  write(text: string, source?: readonly string[]): string;
}

const TITLES = ['Goal', 'Constraints', 'Progress', 'Decisions', 'Open', 'Next', 'Critical'];
const HEADING_SHARE = 0.7;

const PROSE: Form = { share: 1, isHeading: () => false, write: (text) => text };

const IN_SECTIONS: Form = {
  share: HEADING_SHARE,
  isHeading: (line) => TITLES.some((title) => line === `${title}:`),
  write(text, source = []) {
    const known = sectionsIn(source);
    const points = sentencesOf(text).map((sentence) => {
      const point = sentence.replace(/^- /, '');
      return { title: known.get(point) ?? titleFor(point), point };
    });
    return TITLES.map((title) => ({ title, of: points.filter((found) => found.title === title) }))
      .filter(({ of }) => of.length > 0)
      .map(({ title, of }) => [`${title}:`, ...of.map(({ point }) => `- ${point}`)].join('\n'))
      .join('\n');
  },
};

export function formOf({ system }: Pick<ModelRequest, 'system'>): Form {
  return system.some(({ text }) => TITLES.every((title) => text.includes(`\n${title}: `))) ? IN_SECTIONS : PROSE;
}

function sectionsIn(lines: readonly string[]): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  let title = 'Progress';
  for (const line of lines) {
    if (IN_SECTIONS.isHeading(line)) title = line.slice(0, -1);
    for (const sentence of sentencesOf(line.replace(/^\[[^\]]*\]\s?/, '').trim()))
      sections.set(sentence.replace(/^- /, ''), title);
  }
  return sections;
}

function titleFor(sentence: string): string {
  if (/\basked: /.test(sentence)) return 'Open';
  switch (findingsIn(sentence, { label: '', name: '' }, null)[0]?.kind) {
    case 'decision':
      return 'Decisions';
    case 'todo':
      return 'Next';
    case 'preference':
    case 'instruction':
      return 'Constraints';
    case 'identity':
    case 'fact':
      return 'Critical';
    default:
      return 'Progress';
  }
}
