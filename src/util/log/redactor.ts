const MASK = '***';

/** Masks secrets by value in text or a line of JSON: raw, escaped and encoded, longest first. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())]);
  const needles = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => needles.reduce((safe, needle) => safe.replaceAll(needle, MASK), text);
}
