/** Places to cut, best first, with the minimum share of a message that each must fill. */
export const BREAKS: readonly { readonly pattern: RegExp; readonly fill: number }[] = [
  { pattern: /\n{2,}/g, fill: 0.5 },
  { pattern: /\n/g, fill: 0.5 },
  { pattern: /[.!?…]["')\]*_]*\s+|[。！？]["'」』）]*\s*/g, fill: 0.4 },
  { pattern: /\s+/g, fill: 0.25 },
];
