import { z } from 'zod';
import { hasStrayUserPart } from './toml/tree.ts';

/** Name of an agent, a provider, a section or a plugin. */
export const name = z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'expected lower-case letters, digits, - and _');

/** A model as `provider:model`. */
export function modelId(example: string): z.ZodString {
  return z.string().regex(/^[a-z0-9][a-z0-9_-]*:\S+$/, `expected provider:model, for example ${example}`);
}
export const modelOrAuto = z
  .string()
  .regex(/^(auto|[a-z0-9][a-z0-9_-]*:\S+)$/, 'expected "auto" or provider:model, for example openai:gpt-4.1-mini');
export const modelOrNothing = z
  .string()
  .regex(/^$|^[a-z0-9][a-z0-9_-]*:\S+$/, 'expected nothing, or provider:model, for example local:bge-reranker-v2-m3');

const ADDRESS = /^(\[[\da-f:]+\]|[^\s:/@]+):\d{1,5}$/i;

/** Whether a text is `host:port` with a possible port, and with an IPv6 address in brackets. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text) && URL.canParse(`http://${text}`);
}

/** Address of a server, or nothing. */
export function address(example: string): z.ZodString {
  const expected = `expected host:port, for example ${example}, or nothing`;
  return z.string().refine((text) => text === '' || isAddress(text), expected);
}

/** URL of a server, or nothing. */
export function urlOrNothing(form: RegExp, expected: string): z.ZodString {
  return checked((text) => {
    if (text === '') return null;
    if (!form.test(text)) return expected;
    if (SEVERAL_HOSTS.test(text)) return ONE_HOST;
    if (!URL.canParse(text) || (OWN_SERVER.test(text) && hasStrayUserPart(text))) return UNREADABLE_URL;
    return /^rediss?:/.test(text) && !/^\/?\d*$/.test(new URL(text).pathname) ? NO_DATABASE : null;
  });
}

/** Of the servers that Strata itself connects to. */
const SEVERAL_HOSTS = /^(?:rediss?|postgres(?:ql)?):\/\/(?:[^/?#]*@)?[^/?#@,]*,/;
const OWN_SERVER = /^(?:rediss?|postgres(?:ql)?):/;
const ONE_HOST =
  'names several hosts; expected one server: the primary, or an address that always leads to it (Redis Cluster and Sentinel are not supported)';
const UNREADABLE_URL =
  'is not a valid URL; in its user name and password, write %23 for #, %25 for %, %2F for /, %3A for :, %3F for ? and %40 for @';
const NO_DATABASE = 'expected a number as the database of Redis, for example redis://host/3';

/** A folder. */
export const folder = checked((text) => {
  if (text === '') return 'must not be empty';
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    return 'expected a folder; for the URL of a server, use url in [storage], or STRATA_STORAGE_URL';
  }
  return /^~(\/|$)/.test(text) ? 'expected a folder; write the path of the home folder instead of ~' : null;
});

/** A text with one problem at most. */
function checked(problemOf: (text: string) => string | null): z.ZodString {
  return z
    .string()
    .refine((text) => problemOf(text) === null, { error: ({ input }) => problemOf(String(input)) ?? undefined });
}
