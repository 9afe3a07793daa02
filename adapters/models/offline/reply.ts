import { type ModelRequest, type ToolSpec, trimEndOf } from '../../../src/adapter-kit.ts';
import { type Answer, say } from './answer.ts';
import { acknowledge } from './talk/acknowledge.ts';
import { findAnswers } from './talk/recall.ts';
import { smallTalk } from './talk/small-talk.ts';
import { tellMatches } from './talk/telling.ts';
import { readView, type View } from './talk/view.ts';
import { isPleasantry, isQuestion, sentencesOf } from './text/sentences.ts';
import { pick, relatedTo, topicWords } from './text/words.ts';
import { helpFirst, offeredTools, withoutHelp } from './tools/tool-help.ts';
import { answerFromTools } from './tools/tool-results.ts';
import { callAbout, plannedCall } from './tools/tools.ts';
import { voiceFor } from './voice/language.ts';
import type { Voice } from './voice/voice.ts';

const MAX_RELATED = 5;

/** Answers the newest message of a conversation from the request alone. */
export function answerReply(request: ModelRequest): Answer {
  const read = readView(request);
  const offered = offeredTools(request.toolChoice === 'none' ? { tools: [] } : request, read);
  const view = withoutHelp(read);
  const voice = voiceFor(view.newest);
  if (view.calls.length > 0) return say(answerFromTools(view, voice));
  const planned = plannedCall(view, offered.tools);
  const answer = planned === null ? answerMessage(offered.tools, view, voice) : { text: '', calls: [planned] };
  return helpFirst(answer, offered);
}

function answerMessage(tools: readonly ToolSpec[], view: View, voice: Voice): Answer {
  const light = smallTalk(view, voice);
  if (light !== null) return say(light);
  const sentences = sentencesOf(view.newest);
  const questions = sentences.filter(isQuestion);
  const statements = sentences.filter((sentence) => !isQuestion(sentence) && !isPleasantry(sentence));
  const acknowledged = acknowledge(statements.join('\n'), view, voice);
  if (questions.length === 0) return say(acknowledged ?? pick(voice.heard, view.newest));
  const answers = questions.map((question) => answerQuestion(question, view, voice));
  const found = answers.filter((answer) => answer !== null);
  const search = tools.find(({ name }) => name === 'transcript_search');
  const open = questions.find((question, index) => answers[index] === null && topicWords(question).length > 0);
  if (found.length === 0 && search !== undefined && open !== undefined) {
    return { text: '', calls: [callAbout(search, withRelated(open), '')] };
  }
  const told = found.length === 0 ? [unanswered(view.newest, voice)] : found;
  return say([...(acknowledged === null ? [] : [acknowledged]), ...told].join(' '));
}

/** A search finds words, not meanings, so possible answer words are added. */
function withRelated(question: string): string {
  const related = [...relatedTo(question)].filter(([, worth]) => worth === 1).map(([word]) => word);
  return [trimEndOf(question, '?!.'), ...related.slice(0, MAX_RELATED)].join(' ');
}

function answerQuestion(question: string, view: View, voice: Voice): string | null {
  const matches = findAnswers(question, view);
  return matches.length === 0 ? null : tellMatches(matches, view, voice);
}

function unanswered(question: string, voice: Voice): string {
  return topicWords(question).length === 0 ? pick(voice.unknown, question) : voice.nothingFound('view');
}
