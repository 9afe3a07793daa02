import { styleText } from 'node:util';

/** Who is speaking, before what they say. */
export function speaker(name: string, { color }: { readonly color: boolean }): string {
  return color ? styleText(['bold', 'cyan'], `${name}:`, { validateStream: false }) : `${name}:`;
}
