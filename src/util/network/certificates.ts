import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { describe } from '../../domain/errors.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Trusts the authorities that `NODE_EXTRA_CA_CERTS` and `NODE_USE_SYSTEM_CA` name, as Node.js itself does with those of
 * the environment in which it starts. Returns what cannot be used, and why.
 */
export function trustCertificates(environment: Readonly<Record<string, string | undefined>>): string | null {
  const file = environment['NODE_EXTRA_CA_CERTS'] ?? '';
  try {
    const extra = file === '' ? [] : (readFileSync(file, 'utf8').match(CERTIFICATE) ?? []);
    if (file !== '' && extra.length === 0) throw new Error(`${file} contains no certificate in PEM format`);
    const system = environment['NODE_USE_SYSTEM_CA'] === '1' ? tls.getCACertificates('system') : [];
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...system, ...extra]);
    return null;
  } catch (error) {
    return `The authorities of certificates that .env names are not trusted: ${describe(error)}`;
  }
}
