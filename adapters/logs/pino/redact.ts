const mark = '[redacted]';

/** Removes secrets by value from a line of JSON, both raw and escaped, longest first. */
export function createRedactor(secrets: readonly string[]): (line: string) => string {
  const forms = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  const needles = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (line) => needles.reduce((text, needle) => text.replaceAll(needle, mark), line);
}
