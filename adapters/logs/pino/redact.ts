const mark = '[redacted]';

/** Replaces secrets by value in a line of JSON, as they are and as JSON would escape them; the longest first. */
export function createRedactor(secrets: readonly string[]): (line: string) => string {
  const forms = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  const needles = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (line) => needles.reduce((text, needle) => text.replaceAll(needle, mark), line);
}
