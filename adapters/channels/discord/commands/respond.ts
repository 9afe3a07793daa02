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
  form(form: object): Promise<void>;
  choices(choices: readonly { readonly name: string; readonly value: string }[]): Promise<void>;
}

export function createResponder(
  interaction: Pick<WireInteraction, 'id' | 'token' | 'application_id'>,
  { rest, clock }: { readonly rest: Rest; readonly clock: Clock },
): Responder {
  const { id, token, application_id: applicationId } = interaction;
  const callback = (type: InteractionResponseType, data: object | null, files: readonly DescribedFile[] = []) =>
    rest.post(Routes.interactionCallback(id, token), {
      auth: false,
      body: { type, ...(data === null ? {} : { data }) },
      files: [...files],
    });
  const patch = (answer: Answer) =>
    rest.patch(Routes.webhookMessage(applicationId, token, '@original'), {
      auth: false,
      body: changed(answer),
      files: [...answer.files],
    });
  const edit = async (answer: Answer) => await withFiles({ ...answer, files: await packed(answer.files) }, patch);

  return {
    async answer(work, quiet) {
      const first = await soon(clock, work);
      if (first !== null && sizeOf(first.files) <= QUICK_BYTES) {
        const flags = first.ephemeral ? MessageFlags.Ephemeral : 0;
        await withFiles(first, (answer) =>
          callback(InteractionResponseType.ChannelMessageWithSource, { ...described(answer), flags }, answer.files),
        );
        return;
      }
      const flags = (first?.ephemeral ?? quiet) ? MessageFlags.Ephemeral : 0;
      await callback(InteractionResponseType.DeferredChannelMessageWithSource, { flags });
      await edit(await work);
    },
    async update(work) {
      const first = await soon(clock, work);
      if (first !== null && sizeOf(first.files) <= QUICK_BYTES) {
        await withFiles(first, (answer) =>
          callback(InteractionResponseType.UpdateMessage, changed(answer), answer.files),
        );
        return;
      }
      await callback(InteractionResponseType.DeferredMessageUpdate, null);
      await edit(await work);
    },
    async form(form) {
      await callback(InteractionResponseType.Modal, form);
    },
    async choices(choices) {
      await callback(InteractionResponseType.ApplicationCommandAutocompleteResult, { choices });
    },
  };
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
