/** The code that Node.js or a driver gave an error, such as `ENOENT`; empty without one. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
