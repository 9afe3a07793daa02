import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { manifestOf } from '../../../adapters/channels/slack/manifest.ts';
import { settingsOf, settingsSchema } from '../../../adapters/channels/slack/settings.ts';
import { builtInSpecs } from '../../../src/adapter-kit.ts';

const alone = { bot_token: 'x', app_token: 'y' };
const key = 'k'.repeat(32);
const http = { public_url: 'https://bot.example' };
const many = { app_token: 'y', client_id: '1.2', client_secret: 's', installation_key: key, http };

/** The problems as `path: message`. */
const faults = (table: object): readonly string[] =>
  settingsSchema.safeParse(table).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

describe('the settings', () => {
  test('serve one workspace by token or many by app keys', () => {
    expect([faults(alone), faults(many)]).toEqual([[], []]);
    expect(faults({ app_token: 'y' })).toEqual([
      'bot_token: a single workspace needs bot_token; many workspaces need client_id instead',
    ]);
    expect(faults({ ...many, bot_token: 'x' })).toEqual([
      'bot_token: expected either bot_token, for one workspace, or client_id, for many',
    ]);
    expect(faults({ ...alone, client_secret: 's' })).toHaveLength(4);
    expect(faults({ app_token: 'y', client_id: '1.2' })).toEqual([
      'client_secret: many workspaces need client_secret',
      'installation_key: many workspaces need installation_key',
      'http.public_url: many workspaces need the public URL for the redirect after an installation',
    ]);
  });

  test('require a long key, and operators’ workspaces where many', () => {
    expect(faults({ ...many, installation_key: 'short' })).toEqual([
      'installation_key: expected at least 32 characters, such as those that `openssl rand -hex 32` prints',
    ]);
    expect(faults({ ...many, operators: ['U0ADA0001'] })).toEqual([
      'operators.0: expected an id with its workspace: T0123ABCD:U0123ABCD',
    ]);
    const settings = settingsSchema.parse({ ...many, operators: ['T0HOME001:U0ADA0001', 'T0OTHER01:U0BOB0001'] });
    expect(settingsOf(settings, 'T0HOME001').operators).toEqual(['U0ADA0001']);
    expect(settingsOf(settingsSchema.parse({ ...alone, operators: ['U0ADA0001'] }), 'T1').operators).toEqual([
      'U0ADA0001',
    ]);
  });

  test('appear in config.toml with default and description', () => {
    const text = readFileSync(new URL('../../../config.toml', import.meta.url), 'utf8');
    const from = text.indexOf('#[channels.slack]');
    const { enabled: _enabled, ...values } = settingsSchema.parse(alone);
    const shown = { ...values, bot_token: 'env:SLACK_BOT_TOKEN', app_token: 'env:SLACK_APP_TOKEN' };
    expect(text.slice(from).trim().split('\n')).toEqual(exampleOf('channels.slack', settingsSchema, shown));
  });

  test('add the install address to manifests for many workspaces only', () => {
    expect(manifestOf(settingsSchema.parse(alone), builtInSpecs).oauth_config).not.toHaveProperty('redirect_urls');
    expect(manifestOf(settingsSchema.parse(many), builtInSpecs).oauth_config).toMatchObject({
      redirect_urls: ['https://bot.example/slack/oauth_redirect'],
    });
  });
});

/** Without a default, and not needed with the tokens above. */
const OTHERWISE: Readonly<Record<string, string>> = {
  signing_secret: 'env:SLACK_SIGNING_SECRET',
  client_id: 'env:SLACK_CLIENT_ID',
  client_secret: 'env:SLACK_CLIENT_SECRET',
  installation_key: 'env:STRATA_INSTALLATION_KEY',
};
const TABLES = ['http', 'catch_up', 'files'];

/** A table as in the file: keys with their defaults; those that require other changes have a second comment sign. */
function exampleOf(table: string, schema: z.ZodObject, values: Readonly<Record<string, unknown>>): readonly string[] {
  const fields = Object.entries(schema.shape).filter(([name]) => name in values || name in OTHERWISE);
  const own = fields
    .filter(([name]) => !TABLES.includes(name))
    .flatMap(([name, field]) => [
      `# ${field instanceof z.ZodType ? field.description : ''}`,
      name in values ? `#${name} = ${tomlOf(values[name])}` : `##${name} = ${tomlOf(OTHERWISE[name])}`,
    ]);
  const inner = fields
    .filter(([name]) => TABLES.includes(name))
    .flatMap(([name, field]) => {
      const nested = field instanceof z.ZodPrefault ? field.unwrap() : field;
      const settings = z.record(z.string(), z.unknown()).parse(values[name]);
      return nested instanceof z.ZodObject ? exampleOf(`${table}.${name}`, nested, settings) : [];
    });
  return [`#[${table}]`, ...own, ...inner];
}

function tomlOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${name} = ${tomlOf(inner)}`)
    .join(', ')} }`;
}
