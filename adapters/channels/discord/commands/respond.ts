import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { InteractionResponseType, MessageFlags, Routes } from 'discord.js';
import { type Clock, withinTime } from '../../../../src/adapter-kit.ts';
import { attachmentsOf, type DescribedFile, refusesFile } from '../outbound/post.ts';
import type { Rest } from '../web/rest.ts';
import type { WireInteraction } from '../wire.ts';

/** Discord waits three seconds for a first response. A slower answer is announced first and sent later. */
const FIRST_RESPONSE_MS = 1_500;

export interface Answer {
  readonly body: object;
  readonly files: readonly DescribedFile[];
  readonly ephemeral: boolean;
}

export interface Responder {
  /** A new message below the command. `quiet`: who sees the "working" notice if it takes long. */
  answer(work: Promise<Answer>, quiet: boolean): Promise<void>;
  /** Changes the message with the button. */
  update(work: Promise<Answer>): Promise<void>;
  /** The same, but an answer for everyone is a message of its own, and `done` replaces the one with the button. */
  conclude(work: Promise<Answer>, done: Answer): Promise<void>;
  form(form: object): Promise<void>;
  choices(choices: readonly { readonly name: string; readonly value: string }[]): Promise<void>;
}

type Interaction = Pick<WireInteraction, 'id' | 'token' | 'application_id'>;

export function createResponder(
  interaction: Interaction,
  { rest, clock }: { readonly rest: Rest; readonly clock: Clock },
): Responder {
  const { respond, announce, edit, remove, followUp } = createRequests(interaction, rest);
  /** Who sees the message with the button does not change. */
  const change = async (work: Promise<Answer>, shown: (answer: Answer) => Answer): Promise<Answer> => {
    const first = await soon(clock, work);
    if (first !== null && isQuick(first)) {
      await respond(InteractionResponseType.UpdateMessage, shown(first), changed);
      return first;
    }
    await announce(InteractionResponseType.DeferredMessageUpdate);
    const answer = await work;
    await edit(shown(answer));
    return answer;
  };
  return {
    async answer(work, quiet) {
      const first = await soon(clock, work);
      if (first !== null && isQuick(first))
        return await respond(InteractionResponseType.ChannelMessageWithSource, first, visible);
      const isPrivate = first?.ephemeral ?? quiet;
      await announce(InteractionResponseType.DeferredChannelMessageWithSource, { flags: flagsOf(isPrivate) });
      const answer = await work;
      if (answer.ephemeral === isPrivate) return await edit(answer);
      // Who sees the announced message is fixed, also for an answer that would take its place.
      await remove();
      await followUp(answer);
    },
    async update(work) {
      await change(work, (answer) => answer);
    },
    async conclude(work, done) {
      const answer = await change(work, (whole) => (whole.ephemeral ? whole : done));
      if (!answer.ephemeral) await followUp(answer);
    },
    form: (form) => announce(InteractionResponseType.Modal, form),
    choices: (choices) => announce(InteractionResponseType.ApplicationCommandAutocompleteResult, { choices }),
  };
}

/** The requests that answer an interaction. */
function createRequests({ id, token, application_id: applicationId }: Interaction, rest: Rest) {
  const original = Routes.webhookMessage(applicationId, token, '@original');
  const first = async (body: object, files: readonly DescribedFile[] = []): Promise<void> => {
    await rest.post(Routes.interactionCallback(id, token), { auth: false, body, files: [...files] });
  };
  const later = async (whole: Answer, send: (answer: Answer) => Promise<unknown>): Promise<void> =>
    await withFiles({ ...whole, files: await packed(whole.files) }, send);
  return {
    announce: (type: InteractionResponseType, data?: object) =>
      first({ type, ...(data === undefined ? {} : { data }) }),
    respond: (type: InteractionResponseType, whole: Answer, dataOf: (answer: Answer) => object) =>
      withFiles(whole, (answer) => first({ type, data: dataOf(answer) }, answer.files)),
    edit: (whole: Answer) =>
      later(whole, (answer) => rest.patch(original, { auth: false, body: changed(answer), files: [...answer.files] })),
    remove: () => rest.delete(original, { auth: false }),
    followUp: (whole: Answer) =>
      later(whole, (answer) => {
        const sent = { auth: false, body: visible(answer), files: [...answer.files] };
        return rest.post(Routes.webhook(applicationId, token), sent);
      }),
  };
}

function isQuick({ files }: Answer): boolean {
  return sizeOf(files) <= QUICK_BYTES;
}

function flagsOf(isPrivate: boolean): number {
  return isPrivate ? MessageFlags.Ephemeral : 0;
}

/** A new message, for those who may see it. */
function visible(answer: Answer): object {
  return { ...described(answer), flags: flagsOf(answer.ephemeral) };
}

/** Larger files may take longer than Discord waits for a first response. */
const QUICK_BYTES = 1_000_000;
/** Discord accepts files of ten megabytes. */
const PACKED_FROM_BYTES = 8_000_000;

function sizeOf(files: readonly DescribedFile[]): number {
  return files.reduce((sum, { data }) => sum + Buffer.byteLength(dataOf(data)), 0);
}

function dataOf(data: DescribedFile['data']): string | Uint8Array {
  return typeof data === 'string' || data instanceof Uint8Array ? data : String(data);
}

async function packed(files: readonly DescribedFile[]): Promise<readonly DescribedFile[]> {
  if (sizeOf(files) < PACKED_FROM_BYTES) return files;
  return await Promise.all(
    files.map(async ({ name, data }) => {
      return { name: `${name}.gz`, data: await promisify(gzip)(dataOf(data)), contentType: 'application/gzip' };
    }),
  );
}

/** If Discord refuses the files, the person gets the rest, and learns of it. */
async function withFiles(answer: Answer, send: (answer: Answer) => Promise<unknown>): Promise<void> {
  try {
    await send(answer);
  } catch (error) {
    if (answer.files.length === 0 || !refusesFile(error)) throw error;
    const megabytes = (sizeOf(answer.files) / 1_000_000).toFixed(1);
    const content = `Discord refused the file of this answer (${megabytes} MB). The operators of the bot can get it with its command line.`;
    await send({ ...answer, body: { ...answer.body, content }, files: [] });
  }
}

/** The descriptions of pictures belong to the message. */
function described({ body, files }: Answer): object {
  return files.some(({ description }) => description !== undefined)
    ? { ...body, attachments: attachmentsOf(files) }
    : body;
}

/** A changed message keeps none of its earlier files. */
function changed({ body, files }: Answer): object {
  return { ...body, attachments: attachmentsOf(files) };
}

/** Null if it is not ready while Discord still waits. */
export function soon<Result>(clock: Clock, work: Promise<Result>): Promise<Result | null> {
  return withinTime(work, { clock, ms: FIRST_RESPONSE_MS });
}
