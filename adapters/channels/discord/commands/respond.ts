import { InteractionResponseType, MessageFlags, Routes } from 'discord.js';
import { type Clock, withinTime } from '../../../../src/adapter-kit.ts';
import { attachmentsOf, type DescribedFile } from '../outbound/post.ts';
import type { Rest } from '../rest.ts';
import type { WireInteraction } from '../wire.ts';

/** Discord waits three seconds for a first response. A slower answer is announced first and sent later. */
const PATIENCE_MS = 1_500;

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
  const edit = (answer: Answer) =>
    rest.patch(Routes.webhookMessage(applicationId, token, '@original'), {
      auth: false,
      body: changed(answer),
      files: [...answer.files],
    });

  return {
    async answer(work, quiet) {
      const first = await soon(clock, work);
      if (first !== null) {
        const flags = first.ephemeral ? MessageFlags.Ephemeral : 0;
        await callback(InteractionResponseType.ChannelMessageWithSource, { ...described(first), flags }, first.files);
        return;
      }
      const flags = quiet ? MessageFlags.Ephemeral : 0;
      await callback(InteractionResponseType.DeferredChannelMessageWithSource, { flags });
      await edit(await work);
    },
    async update(work) {
      const first = await soon(clock, work);
      if (first !== null) {
        await callback(InteractionResponseType.UpdateMessage, changed(first), first.files);
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
  return withinTime(work, { clock, ms: PATIENCE_MS });
}
