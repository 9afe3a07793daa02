import { actionOf, type ChannelSink, type CommandInvocation, type ReplyCommand } from '../../../src/adapter-kit.ts';

/** What forms for the missing options of a command do on every platform. */

/** What people read who send a form that does nothing. */
export const INVALID_FORM = 'This form is no longer valid. Use the command again.';
export const EMPTY_FORM = 'The form contained no text.';

/** The command with the values that its form had asked for. */
export function completed({ path, options }: ReplyCommand, values: Readonly<Record<string, string>>): ReplyCommand {
  return { path, options: { ...options, ...values } };
}

/** The text to correct, as shown by the related command; empty if there is none. */
export async function currentText(
  sink: Pick<ChannelSink, 'command' | 'commandSpecs'>,
  invocation: CommandInvocation,
): Promise<string> {
  const shows = { path: [invocation.path[0] ?? '', 'show'] };
  if (actionOf(shows, sink.commandSpecs) === null || invocation.options['id'] === undefined) return '';
  const reply = await sink.command({ ...invocation, ...shows });
  return reply.tone === 'error' ? '' : reply.text;
}
