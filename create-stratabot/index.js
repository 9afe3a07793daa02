#!/usr/bin/env node
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const PLATFORMS = {
  terminal: { packages: {}, config: '', environment: '', testTokens: '' },
  discord: {
    packages: { 'discord.js': '^14.28.1' },
    config: '\n[channels.discord]\ntoken = "env:DISCORD_BOT_TOKEN"\n',
    environment: 'DISCORD_BOT_TOKEN=\n',
    testTokens: ", DISCORD_BOT_TOKEN: 'offline'",
  },
  slack: {
    packages: { '@slack/bolt': '^5.1.0' },
    config: '\n[channels.slack]\nbot_token = "env:SLACK_BOT_TOKEN"\napp_token = "env:SLACK_APP_TOKEN"\n',
    environment: 'SLACK_BOT_TOKEN=\nSLACK_APP_TOKEN=\n',
    testTokens: ", SLACK_BOT_TOKEN: 'xoxb-offline', SLACK_APP_TOKEN: 'xapp-offline'",
  },
};

const SDK = { ai: '^7.0.173' };
/** What a model's provider needs. `auto` and offline:demo need nothing. */
const PROVIDERS = {
  anthropic: { packages: { ...SDK, '@ai-sdk/anthropic': '^4.0.105' }, environment: 'ANTHROPIC_API_KEY=\n' },
  google: { packages: { ...SDK, '@ai-sdk/google': '^4.0.121' }, environment: 'GOOGLE_GENERATIVE_AI_API_KEY=\n' },
  ollama: { packages: { ...SDK, 'ollama-ai-provider-v2': '^4.0.1' }, environment: '' },
  openai: { packages: { ...SDK, '@ai-sdk/openai': '^4.0.118' }, environment: 'OPENAI_API_KEY=\n' },
  openrouter: { packages: { ...SDK, '@ai-sdk/openai-compatible': '^3.0.92' }, environment: 'OPENROUTER_API_KEY=\n' },
};

const USAGE =
  'Usage: npm create stratabot <folder> -- [--language ts|js] [--platform terminal|discord|slack] [--model auto|provider:model]';

try {
  await create();
} catch (error) {
  process.stderr.write(`create-stratabot: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function create() {
  const choices = await readChoices();
  if (choices === null) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const { folder, language, platform, model } = choices;
  const target = resolve(folder);
  if (existsSync(target) && (!statSync(target).isDirectory() || readdirSync(target).length > 0)) {
    throw new Error(`${folder} exists and is not an empty folder. Choose another one.`);
  }
  const provider = PROVIDERS[model.split(':')[0] ?? ''];
  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  const packages = { stratabot: `^${version}`, zod: '^4.6.7', ...PLATFORMS[platform].packages, ...provider?.packages };
  const values = {
    NAME: packageNameOf(basename(target)),
    LANGUAGE: language,
    MODEL: model,
    PLATFORM_TABLE: PLATFORMS[platform].config,
    TEST_TOKENS: PLATFORMS[platform].testTokens,
    ENVIRONMENT: `${provider?.environment ?? ''}${PLATFORMS[platform].environment}` || '# OPENAI_API_KEY=\n',
    DEPENDENCIES: JSON.stringify(sorted(packages), null, 4).replace('\n}', '\n  }'),
  };
  for (const source of ['shared', language])
    copyTemplate(fileURLToPath(new URL(`template/${source}/`, import.meta.url)), target, values);
  const shown = /^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder);
  const keys = values.ENVIRONMENT.startsWith('#') ? '' : '  cp .env.sample .env   # then fill it in\n';
  process.stdout.write(`${folder} is ready:\n\n  cd ${shown}\n  npm install\n  npm test\n${keys}  npm start\n`);
}

function copyTemplate(from, to, values) {
  for (const entry of globSync('**', { cwd: from, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const source = join(entry.parentPath, entry.name);
    // npm leaves out files with these names, so the template has them without the dot and ending.
    const name = source
      .slice(from.length)
      .replace(/^dot-/, '.')
      .replace(/\.template$/, '');
    const text = readFileSync(source, 'utf8').replace(/\{\{([A-Z_]+)\}\}/g, (found, key) => values[key] ?? found);
    mkdirSync(dirname(join(to, name)), { recursive: true });
    writeFileSync(join(to, name), text);
  }
}

/** Flags first; what is left is asked for in a terminal, and at its default elsewhere. Null if only help is wanted. */
async function readChoices() {
  const { values, positionals } = readArguments();
  if (values.help === true) return null;
  const [folder, ...rest] = positionals;
  if (folder === undefined || rest.length > 0) throw new Error(`Expected one folder.\n${USAGE}`);
  const asks = process.stdin.isTTY && process.stdout.isTTY;
  const terminal = asks ? createInterface({ input: process.stdin, output: process.stdout }) : null;
  try {
    const choose = async (name, fallback, question) =>
      values[name] ?? (((await terminal?.question(`${question} [${fallback}]: `)) ?? '').trim() || fallback);
    const language = await choose('language', 'ts', 'Language: ts or js');
    const platform = await choose('platform', 'terminal', 'Platform: terminal, discord or slack');
    const model = await choose('model', 'auto', 'Model: auto, or provider:model');
    return { folder, ...checked({ language, platform, model }) };
  } finally {
    terminal?.close();
  }
}

function readArguments() {
  const text = { type: 'string' };
  const options = { language: text, platform: text, model: text, help: { type: 'boolean', short: 'h' } };
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    const [problem] = error.message.split('. To specify');
    throw new Error(`${problem}.\n${USAGE}`);
  }
}

function checked({ language, platform, model }) {
  if (!['ts', 'js'].includes(language)) throw new Error(`--language is "${language}". Expected ts or js.`);
  if (!Object.hasOwn(PLATFORMS, platform)) {
    throw new Error(`--platform is "${platform}". Expected ${Object.keys(PLATFORMS).join(', ')}.`);
  }
  if (!/^(auto|[a-z0-9][a-z0-9_-]*:[^\s"\\]+)$/.test(model)) {
    throw new Error(`--model is "${model}". Expected auto, or provider:model, for example openai:gpt-4.1-mini.`);
  }
  return { language, platform, model };
}

function packageNameOf(folder) {
  return (
    folder
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-|-$/g, '') || 'my-bot'
  );
}

function sorted(packages) {
  return Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
}
