import { styleText } from 'node:util';

/** The name of the speaker before the text. */
export function speaker(name: string, { color }: { readonly color: boolean }): string {
  return color ? styleText(['bold', 'cyan'], `${name}:`, { validateStream: false }) : `${name}:`;
}
