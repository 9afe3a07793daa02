/** What stands in front of a message, such as `[#7 | Ada | 2026-11-20 10:00 | reply to #5]`. */
export interface Label {
  readonly seq: number;
  /** Null if it names nobody. */
  readonly author: string | null;
  /** Null if it has no time. */
  readonly when: string | null;
  /** What follows it. */
  readonly text: string;
}

const LABEL = /^\[#(\d+)((?: \| [^|\]]*)*)\]\s?/;
const TIME = /^\d{4}-\d{2}-\d{2}/;
const REMARK = /^(?:reply to #|edited$)/;

/** Null for a line without a label. */
export function readLabel(line: string): Label | null {
  const [label, seq, written = ''] = LABEL.exec(line) ?? [];
  if (label === undefined) return null;
  const fields = written.split(' | ').slice(1);
  return {
    seq: Number(seq),
    author: fields.find((field) => !TIME.test(field) && !REMARK.test(field)) ?? null,
    when: fields.find((field) => TIME.test(field)) ?? null,
    text: line.slice(label.length),
  };
}
