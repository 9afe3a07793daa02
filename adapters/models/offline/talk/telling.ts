import { isNobody } from '../findings/findings.ts';
import { shorten } from '../text/sentences.ts';
import type { Voice } from '../voice/voice.ts';
import type { Match } from './recall.ts';
import type { Statement, View } from './view.ts';

const MAX_QUOTE = 280;

/** The best match with its source, and other matches in a second sentence. */
export function tellMatches(matches: readonly Match[], view: Pick<View, 'asker' | 'name'>, voice: Voice): string {
  const [best, ...others] = matches.map(({ statement }) => statement);
  if (best === undefined) return voice.nothingFound('view');
  const told = tell(best, view, voice);
  const more = others.map((other) => voice.also(withStop(shorten(other.text, MAX_QUOTE))));
  return [told, ...more].join(' ');
}

function tell(statement: Statement, { asker, name }: Pick<View, 'asker' | 'name'>, voice: Voice): string {
  const { source, author, when } = statement;
  const text = withStop(shorten(statement.text.replace(/\s+/g, ' '), MAX_QUOTE));
  switch (source) {
    case 'memory':
      return voice.fromMemory(text, when);
    case 'summary':
      return voice.fromSummary(text, when);
    case 'instruction':
      return voice.fromInstruction(text, author);
    case 'message':
      return author === asker
        ? voice.fromMessage(text, { author: isNobody(name) ? '' : name, when, byAsker: true })
        : voice.fromMessage(text, { author, when, byAsker: false });
    case 'own':
      return voice.fromSelf(text);
    case 'tool':
      return voice.fromTool(text);
    default:
      return source satisfies never;
  }
}

export function withStop(text: string): string {
  const closed = /[.!?。！？…]["”’')\]]?$/u.test(text);
  if (closed) return text;
  return /\p{Script=Han}$/u.test(text) ? `${text}。` : `${text}.`;
}
