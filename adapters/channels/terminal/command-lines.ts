import {
  type Author,
  type ChannelSink,
  type CommandReply,
  makeReply,
  type ReplyCommand,
  readCommandLine,
  renderReply,
} from '../../../src/adapter-kit.ts';
import { createRunning } from '../shared/running.ts';
import { createLastList } from './last-list.ts';
import type { Place } from './place.ts';
import { createQuestions } from './questions.ts';
import type { Screen } from './screen.ts';

export interface CommandLineOptions {
  readonly sink: ChannelSink;
  readonly screen: Screen;
  readonly author: Author;
  readonly color: boolean;
  /** Number the rows of lists. */
  readonly numbered: boolean;
  /** Where the person is now. */
  readonly place: () => Place;
}

/** Lines that are commands, and lines that answer a command's question. */
export interface CommandLines {
  /** Whether the next line answers a question. */
  readonly isAsking: boolean;
  command(line: string): Promise<void>;
  answer(line: string): Promise<void>;
  /** Cancels the open question. */
  cancel(): void;
}

const HELP = makeReply('Here in the terminal', {
  fields: [
    { name: '/demo', value: 'Play a conversation of several people; you can continue it afterwards' },
    { name: '/main', value: 'Return to your own conversation' },
    { name: '/quit', value: 'End the program, like Ctrl-D' },
  ],
});

export function createCommandLines(options: CommandLineOptions): CommandLines {
  const { sink, screen, author, color } = options;
  const specs = sink.commandSpecs;
  const list = createLastList();
  const questions = createQuestions({ specs, show: screen.block });

  const running = createRunning();

  const show = (reply: CommandReply): void => {
    const numbered = list.number(reply);
    screen.block(renderReply(options.numbered ? numbered : reply, { color, specs, width: screen.width }));
  };

  const serve = async (command: ReplyCommand): Promise<void> => {
    show(await sink.command({ ...options.place(), author, rights: 'operator', ...command }));
    if (command.path[0] === 'help' && command.options['command'] === undefined) show(HELP);
  };

  const run = async (command: ReplyCommand | null): Promise<void> => {
    if (command === null) return;
    await running.track(serve(command));
  };

  return {
    get isAsking() {
      return questions.isOpen;
    },
    async command(line) {
      const read = readCommandLine(line, { specs });
      if (read.kind === 'refused') return show(read.reply);
      // A number that was typed early is a row of a list that is not shown yet.
      if (list.isMeantBy(read.command)) await running.drained();
      await run(questions.begin(list.resolve(read.command)));
    },
    answer: (line) => run(questions.answer(line)),
    cancel: questions.cancel,
  };
}
