import {
  ApplicationFlagsBitField,
  DiscordAPIError,
  PermissionFlagsBits,
  RateLimitError,
  type RESTPutAPIApplicationCommandsJSONBody,
  Routes,
} from 'discord.js';
import { z } from 'zod';
import {
  type ChannelContext,
  counted,
  describe,
  type Finding,
  type Log,
  networkRemedy,
} from '../../../src/adapter-kit.ts';
import { commandsJson } from './commands/command-json.ts';
import { missingIn, scopesOf } from './commands/register.ts';
import { problemOf } from './drops.ts';
import { BAD_TOKEN, refusalOf } from './gateway/refusal.ts';
import { idOfToken, inviteUrl, missingOf } from './permissions.ts';
import { type NamedBot, siteOf } from './settings.ts';
import { type Application, createRest, type Rest, readApplication, statusOf } from './web/rest.ts';

/** Somebody is waiting for the result. */
const MAX_WAIT_MS = 5_000;

/** Token, intents, permissions and commands of one bot, for `strata doctor`. Changes nothing. */
export async function checkBot(
  { name, settings }: NamedBot,
  { log, commandSpecs }: Pick<ChannelContext, 'log' | 'commandSpecs'>,
): Promise<readonly Finding[]> {
  const found = reporter(name);
  const rest = createRest(settings, log, { maxWaitMs: MAX_WAIT_MS });
  const application = await readApplication(rest).catch((error: unknown) => unanswered(found, 'token', error));
  if ('severity' in application) return [application];
  const asked = { rest, application, commands: commandsJson(commandSpecs, settings.localizations), settings };
  const answers = await Promise.all([
    checkPermissions(found, asked).catch((error: unknown) => [unanswered(found, 'permissions', error)]),
    checkCommands(found, asked).catch((error: unknown) => [unanswered(found, 'commands', error)]),
  ]);
  return [
    found.ok('token', `the token of application ${application.id} is valid`),
    checkIntents(found, application, settings.message_content),
    ...answers.flat(),
  ];
}

/** No response, or an inconclusive one. */
function unanswered(found: Reporter, id: string, error: unknown): Finding {
  if (statusOf(error) === 401) return found.fail(id, BAD_TOKEN.reason, BAD_TOKEN.remedy);
  if (error instanceof RateLimitError) {
    const waitS = Math.ceil(error.timeToReset / 1000);
    return found.fail(id, `Discord accepts no requests for another ${waitS} s`, 'Wait that long, then try again.');
  }
  if (error instanceof z.ZodError) {
    return found.fail(id, `Discord returned an unreadable response: ${problemOf(error)}`, OTHER_SERVER);
  }
  if (error instanceof DiscordAPIError) {
    return found.fail(id, `Discord refused to answer: ${describe(error)} (HTTP ${error.status})`, OTHER_SERVER);
  }
  const remedy = networkRemedy(error) ?? 'Check the network, and rest_url if it is set';
  return found.fail(id, `Discord cannot be reached: ${describe(error)}`, `${remedy}.`);
}

const OTHER_SERVER = 'If rest_url is set, it must be the base URL of a REST API compatible with Discord.';

interface Asked {
  readonly rest: Rest;
  readonly application: Application;
  readonly commands: RESTPutAPIApplicationCommandsJSONBody;
  readonly settings: NamedBot['settings'];
}

interface Reporter {
  ok(id: string, message: string): Finding;
  warn(id: string, message: string, fixHint: string): Finding;
  fail(id: string, message: string, fixHint: string): Finding;
}

function reporter(name: string): Reporter {
  const prefix = name === '' ? '' : `${name}.`;
  const finding =
    (severity: Finding['severity']) =>
    (id: string, message: string, fixHint: string | null = null) => ({
      checkId: `${prefix}${id}`,
      severity,
      message,
      fixHint,
    });
  return { ok: finding('ok'), warn: finding('warn'), fail: finding('fail') };
}

const { Flags } = ApplicationFlagsBitField;
const MAY_READ = Flags.GatewayMessageContent | Flags.GatewayMessageContentLimited;

function checkIntents(found: Reporter, { flags }: Application, wantsContent: boolean): Finding {
  const isOn = (flags & MAY_READ) !== 0;
  if (!wantsContent) {
    return found.ok('intents', 'message_content is off: only direct messages, mentions and commands are read');
  }
  if (isOn) return found.ok('intents', 'the bot can read the content of messages');
  const refusal = refusalOf(4014);
  return found.fail('intents', refusal?.reason ?? '', refusal?.remedy ?? '');
}

const guildSchema = z.object({
  id: z.string(),
  name: z.string().catch('a server without a name'),
  permissions: z
    .string()
    .regex(/^\d{1,40}$/)
    .nullish()
    .catch(null),
});
const guildsSchema = z.array(guildSchema);

async function checkPermissions(
  found: Reporter,
  { rest, application: { id }, settings }: Asked,
): Promise<readonly Finding[]> {
  const guilds = guildsSchema.parse(await rest.get(Routes.userGuilds()));
  const invite = inviteUrl(id, siteOf(settings));
  if (guilds.length === 0) return [found.warn('servers', 'the bot is not in any server', `Add it with ${invite}`)];
  const lacking = guilds.flatMap(({ name, permissions }) => {
    const missing = missingOf(permissions ?? String(ALL));
    return missing.length === 0 ? [] : [`${name} lacks ${missing.join(', ')}`];
  });
  const hint = `Grant it to the role of the bot, or add the bot again with ${invite}`;
  if (lacking.length > 0) return [found.warn('permissions', lacking.join('; '), hint)];
  const unknown = guilds.filter(({ permissions }) => !permissions).map(({ name }) => name);
  if (unknown.length > 0) {
    const problem = `Discord reports no permissions of the bot in ${unknown.join(', ')}`;
    return [found.warn('permissions', problem, `It needs ${missingOf('0').join(', ')}.`)];
  }
  return [found.ok('permissions', `${counted(guilds.length, 'server gives', 'servers give')} all that is needed`)];
}

const ALL = PermissionFlagsBits.Administrator;

async function checkCommands(found: Reporter, of: Asked): Promise<readonly Finding[]> {
  const scopes = scopesOf(of.settings);
  if (scopes.length === 0) return [found.ok('commands', 'commands are disabled')];
  const { rest, commands } = of;
  const registered = { rest, applicationId: of.application.id, commands };
  const missing = await Promise.all(scopes.map((scope) => missingIn(registered, scope)));
  const lacking = [...new Set(missing.flat())];
  if (lacking.length === 0) return [found.ok('commands', `${commands.length} commands are registered`)];
  return [found.warn('commands', `not registered: ${lacking.join(', ')}`, 'The bot registers them at startup.')];
}

/** The invite URL of each bot. Throws what the doctor would say if the token names no application. */
export async function inviteTo({ name, settings }: NamedBot, log: Log): Promise<string> {
  const rest = createRest(settings, log, { maxWaitMs: MAX_WAIT_MS });
  const id = idOfToken(settings.token) ?? (await readApplication(rest).catch((error) => refuse(name, error))).id;
  const url = inviteUrl(id, siteOf(settings));
  return name === '' ? url : `${name}: ${url}`;
}

function refuse(name: string, cause: unknown): never {
  const { message, fixHint } = unanswered(reporter(name), 'token', cause);
  throw new Error(`${name === '' ? '' : `${name}: `}${message}. ${fixHint ?? ''}`, { cause });
}
