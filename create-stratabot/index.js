#!/usr/bin/env node
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
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

const oneOf = (known) => (value) => (known.includes(value) ? null : `Expected ${known.join(', ')}.`);
const isModel = (value) => /^(auto|[a-z0-9][a-z0-9_-]*:[^\s"\\]+)$/.test(value);

const CHOICES = {
  language: { fallback: 'ts', problemOf: oneOf(['ts', 'js']) },
  platform: { fallback: 'terminal', problemOf: oneOf(Object.keys(PLATFORMS)) },
  model: {
    fallback: 'auto',
    problemOf: (value) =>
      isModel(value) ? null : 'Expected auto, or provider:model, for example openai:gpt-4.1-mini.',
  },
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
  if (Number.parseInt(process.versions.node, 10) < 24) {
    throw new Error(`A bot needs Node.js 24 or newer; this is ${process.versions.node}.`);
  }
  const choices = await readChoices();
  if (choices === null) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const { folder, language, platform, model } = choices;
  const target = resolve(folder);
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
  const enter = target === process.cwd() ? '' : `  cd ${quoted(folder)}\n`;
  const keys = values.ENVIRONMENT.startsWith('#') ? '' : '  cp .env.sample .env   # then fill it in\n';
  process.stdout.write(`${folder} is ready:\n\n${enter}  npm install\n  npm test\n${keys}  npm start\n`);
}

/** A new clone of an empty repository has one entry, `.git`. */
function checkFolder(folder) {
  const target = resolve(folder);
  const parent = existing(dirname(target));
  if (!statSync(parent).isDirectory()) throw new Error(`${parent} is not a folder. Choose another one than ${folder}.`);
  if (!existsSync(target)) return;
  const isFree = statSync(target).isDirectory() && readdirSync(target).every((name) => name === '.git');
  if (!isFree) throw new Error(`${folder} exists and is not an empty folder. Choose another one.`);
}

function existing(path) {
  return existsSync(path) ? path : existing(dirname(path));
}

/** For a shell. */
function quoted(folder) {
  const path = folder.startsWith('-') ? `./${folder}` : folder;
  if (/^[\w./-]+$/.test(path)) return path;
  return /["$`\\!]/.test(path) ? `'${path.replaceAll("'", "'\\''")}'` : `"${path}"`;
}

function copyTemplate(from, to, values) {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
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
  if (folder === undefined || folder === '' || rest.length > 0) throw new Error(`Expected one folder.\n${USAGE}`);
  checkFolder(folder);
  const asks = process.stdin.isTTY && process.stdout.isTTY;
  const terminal = asks ? createInterface({ input: process.stdin, output: process.stdout }) : null;
  try {
    const choose = async (name, question) => {
      const { fallback, problemOf } = CHOICES[name];
      const given = values[name];
      const problem = given === undefined ? null : problemOf(given);
      if (problem !== null) throw new Error(`--${name} is "${given}". ${problem}`);
      return given ?? (terminal === null ? fallback : await ask(terminal, question, CHOICES[name]));
    };
    const language = await choose('language', 'Language: ts or js');
    const platform = await choose('platform', 'Platform: terminal, discord or slack');
    return { folder, language, platform, model: await choose('model', 'Model: auto, or provider:model') };
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

/** Until the answer can be used. */
async function ask(terminal, question, { fallback, problemOf }) {
  for (;;) {
    const answer = (await terminal.question(`${question} [${fallback}]: `)).trim() || fallback;
    const problem = problemOf(answer);
    if (problem === null) return answer;
    process.stdout.write(`${problem}\n`);
  }
}

function packageNameOf(folder) {
  return (
    folder
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'my-bot'
  );
}

function sorted(packages) {
  return Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
}
