import type { ChannelSink, CommandInvocation } from '../../ports/channel.ts';
import { readCommandLine } from './parse.ts';
import { renderReply } from './render.ts';

/**
 * Runs a typed line as a command and returns the answer as text: for channels without buttons and forms. Never rejects.
 *
 * @example
 * async function onLine(sink: ChannelSink, text: string, conversation: ConversationKey): Promise<string | null> {
 *   if (!isCommandLine(text)) return null;
 *   const author = { id: '7', name: 'Ada', kind: 'person' } as const;
 *   return await runCommandLine(sink, text, { conversation, author, audience: 'dm', rights: 'member' });
 * }
 */
export async function runCommandLine(
  sink: Pick<ChannelSink, 'command' | 'commandSpecs'>,
  line: string,
  who: Omit<CommandInvocation, 'path' | 'options'>,
): Promise<string> {
  const specs = sink.commandSpecs;
  const read = readCommandLine(line, { specs });
  const reply = read.kind === 'refused' ? read.reply : await sink.command({ ...who, ...read.command });
  return renderReply(reply, { color: false, specs });
}
