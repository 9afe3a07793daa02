import { describe } from '../../domain/errors.ts';

/** What operators can do about failures of TLS, proxies, names and networks. The first that fits counts. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/certificate has expired/, 'Renew the certificate of the server'],
  [/certificate is not yet valid/, 'Set the clock of this computer, or renew the certificate of the server'],
  [/certificate's altnames/, 'Use a host name that the certificate of the server contains'],
  [
    /self[- ]signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate/,
    'Set NODE_EXTRA_CA_CERTS to the file of the authority that signed the certificate, or NODE_USE_SYSTEM_CA=1 if the system trusts it',
  ],
  [/wrong version number/, 'Correct the scheme or the port of the address: the server uses no TLS there'],
  [
    /Proxy response \(407\)|: HTTP\/1\.\d 407 /,
    'Add a user and a password to HTTPS_PROXY: http://user:password@host:port',
  ],
  [
    /Proxy response \(|Failed to establish tunnel to /,
    'Allow the host in the proxy, or add it to NO_PROXY if it is reached without one',
  ],
  [/\bbad port$/, 'Let the server listen on another port: clients of HTTP refuse this one'],
  [/^the server redirects to /m, 'Correct the address of the server, or sign in to the network first'],
  [
    /country, region, or territory not supported|user location is not supported/i,
    'Run the bot in a country that the provider serves, or choose another model',
  ],
  [/EAI_AGAIN/, 'Check the network and the name server of this computer'],
];

/** A sentence without its full stop; null if nothing is known about the failure. */
export function networkRemedy(error: unknown): string | null {
  const text = describe(error);
  return REMEDIES.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}
