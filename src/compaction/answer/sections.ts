/** The sections of a structured summary in order, with the headings that models use for them. */
const SECTIONS = [
  { title: 'Goal', names: ['goal', 'goals'] },
  { title: 'Constraints', names: ['constraints', 'constraint'] },
  { title: 'Progress', names: ['progress'] },
  { title: 'Decisions', names: ['decisions', 'decision', 'key decisions'] },
  { title: 'Open', names: ['open', 'open questions', 'open topics', 'open issues'] },
  { title: 'Next', names: ['next', 'next steps', 'next step'] },
  { title: 'Critical', names: ['critical', 'critical details', 'critical context', 'critical information'] },
] as const;

type Title = (typeof SECTIONS)[number]['title'];

/** The points of each section that has any. */
export type Sections = ReadonlyMap<Title, readonly string[]>;

const TITLES = new Map<string, Title>(SECTIONS.flatMap(({ title, names }) => names.map((name) => [name, title])));
/** Longer than any heading with its marks. */
const MAX_HEADING = 40;
/** What models write into a section without points. */
const NOTHING: ReadonlySet<string> = new Set(['', '-', 'none', 'nothing', 'n/a', 'not applicable']);

export interface Structured {
  readonly text: string;
  /** False if the text did not begin with a heading: everything before the first one is progress. */
  readonly hasForm: boolean;
}

/** The text with its sections in order, each once, and its points in lines. */
export function structured(text: string): Structured {
  const { sections, hasForm } = read(text);
  return { text: sectionsText(sections), hasForm };
}

/** The sections of a summary; all of a summary without sections is progress. */
export function sectionsOf(text: string): Sections {
  return read(text).sections;
}

/** For each section, its points in all summaries, in their order. */
export function bySection<Part extends { readonly text: string }>(
  parts: readonly Part[],
): readonly { readonly title: Title; readonly points: readonly { readonly part: Part; readonly text: string }[] }[] {
  const read = parts.map((part) => ({ part, sections: sectionsOf(part.text) }));
  return SECTIONS.flatMap(({ title }) => {
    const points = read.flatMap(({ part, sections }) => {
      const found = sections.get(title);
      return found === undefined ? [] : [{ part, text: found.join('\n') }];
    });
    return points.length === 0 ? [] : [{ title, points }];
  });
}

/** The text of sections, also of those that a model gave as an object. Unknown names are left out. */
export function sectionsText(sections: Iterable<readonly [string, readonly string[]]>): string {
  const points = new Map<Title, readonly string[]>();
  for (const [name, found] of sections) {
    const title = TITLES.get(plain(name));
    if (title !== undefined && found.length > 0) points.set(title, [...(points.get(title) ?? []), ...found]);
  }
  return SECTIONS.flatMap(({ title }) => {
    const found = points.get(title);
    return found === undefined ? [] : [[`${title}:`, ...found.map((point) => `- ${point}`)].join('\n')];
  }).join('\n');
}

function read(text: string): { readonly sections: Sections; readonly hasForm: boolean } {
  // A set finds repeated points in constant time.
  const found = new Map<Title, Set<string>>();
  let current: Title | null = null;
  let hasForm = true;
  for (const line of text.split('\n')) {
    const heading = headingIn(line);
    if (heading !== null) current = heading.title;
    const point = pointIn(heading === null ? line : heading.rest);
    if (NOTHING.has(plain(point))) continue;
    if (current === null) hasForm = false;
    const title = current ?? 'Progress';
    found.set(title, (found.get(title) ?? new Set()).add(point));
  }
  const sections = new Map([...found].map(([title, points]) => [title, [...points]]));
  return { sections, hasForm };
}

/** `Goal:`, `## Goal`, `**Open questions:** who pays?` */
function headingIn(line: string): { readonly title: Title; readonly rest: string } | null {
  const start = line.slice(0, MAX_HEADING);
  const colon = start.indexOf(':');
  const title = TITLES.get(plain(colon < 0 ? start : start.slice(0, colon)));
  if (title === undefined || (colon < 0 && line.length > MAX_HEADING)) return null;
  return { title, rest: colon < 0 ? '' : line.slice(colon + 1).replace(/^[*_]{1,3}/u, '') };
}

function pointIn(line: string): string {
  return line
    .trim()
    .replace(/^[-*•–] +/u, '')
    .trim();
}

function plain(text: string): string {
  return text
    .replace(/[#*_.]/gu, '')
    .trim()
    .toLowerCase();
}
