/** Follows code blocks and code within a line through a text. */
export function createCodeMarks() {
  let fence: string | null = null;
  let inline: string | null = null;
  return {
    /** What comes next is code. */
    get isOpen() {
      return fence !== null || inline !== null;
    },
    /** A run of backticks or tildes, with the text around it. Blocks in lists and quotes are indented. */
    run(marks: string, before: string, after: string): void {
      const isFirst = /\n[ \t>]{0,24}$/.test(before) && marks.length >= 3;
      if (fence !== null) {
        if (isFirst && marks.startsWith(fence) && !/^[\p{L}\p{N}]/u.test(after)) fence = null;
      } else if (isFirst && inline === null) fence = marks;
      else if (marks.startsWith('`')) inline = inline === null ? marks : inline === marks ? null : inline;
    },
    line(): void {
      inline = null;
    },
  };
}
