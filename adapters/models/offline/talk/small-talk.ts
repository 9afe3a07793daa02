import { findingsIn, isNobody } from '../findings/findings.ts';
import { isPleasantry, shorten } from '../text/sentences.ts';
import { overlap, pick } from '../text/words.ts';
import type { Voice } from '../voice/voice.ts';
import type { Statement, View } from './view.ts';

interface Reaction {
  readonly pattern: RegExp;
  react(view: View, voice: Voice): string | null;
}

const REACTIONS: readonly Reaction[] = [
  {
    pattern:
      /\b(?:what can you do|how (?:does|do) (?:this|you) work|what (?:should|can) I (?:do|try|say|ask)|was kannst du)\b|^(?:help|hilfe)\W*$|你(?:会|能)(?:做)?什么/iu,
    react: (_, voice) => voice.abilities,
  },
  {
    pattern:
      /\b(?:who|what) are you\b|\bare you (?:a |an )?(?:bot|human|real|ai|person|robot)\b|\bwer bist du\b|\bwas bist du\b|你是谁/iu,
    react: (_, voice) => voice.introduction,
  },
  {
    pattern:
      /\bwhat (?:time|day|date) is it\b|\bwhat(?:['’]s| is) (?:the (?:time|date)|today['’]?s date)\b|\bwie spät\b|\bwelcher tag\b|现在几点|今天几号/iu,
    react: ({ clock }, voice) => (clock === null ? null : voice.timeIs(clock)),
  },
  {
    pattern:
      /\b(?:who am I|what(?:['’]s| is) my name|do you (?:know|remember) (?:my name|who I am)|wie hei(?:ß|ss)e ich|wer bin ich)\b|我(?:叫什么|是谁|的名字)/iu,
    react: ({ name, asker, statements }, voice) => (isTold(name, asker, statements) ? voice.nameIs(name) : null),
  },
  {
    pattern:
      /\bwhat (?:do|did) you (?:know|remember|learn)(?: about me| of me)?\W*$|\bwas weißt du (?:über|von) mi[rc]h?\b|你(?:知道|记得)(?:我)?(?:什么|些什么)/iu,
    react: (view, voice) => listed(knownAboutAsker(view), voice.knownAbout),
  },
  {
    pattern:
      /\b(?:what (?:did|have|were) we (?:talk|discuss|been talking)|what was (?:this|our) (?:talk|chat|conversation) about|summari[sz]e|recap|worüber haben wir)\b|我们(?:聊|谈)了什么/iu,
    react: (view, voice) => listed(topicsOf(view), voice.talkedAbout),
  },
  {
    pattern: /\bhow are you\b|\bhow(?:['’]s| is) it going\b|\bwhat['’]s up\b|\bwie geht(?:['’]s| es)\b|你好吗/iu,
    react: ({ newest }, voice) => (newest.length < 60 ? pick(voice.wellbeing, newest) : null),
  },
];

/** Greetings, thanks, and questions about the bot and the conversation as a whole. Null for anything with a topic. */
export function smallTalk(view: View, voice: Voice): string | null {
  const text = view.newest.trim();
  for (const { pattern, react } of REACTIONS) {
    const reaction = pattern.test(text) ? react(view, voice) : null;
    if (reaction !== null) return reaction;
  }
  return isPleasantry(text) ? pleasantry(text, voice) : null;
}

function pleasantry(text: string, voice: Voice): string {
  if (/\b(?:thanks?|thank you|thx|danke)\b|谢/iu.test(text)) return pick(voice.thanks, text);
  if (/\b(?:bye|goodbye|see you|good night|tschüss|gute nacht)\b|再见/iu.test(text)) return pick(voice.farewells, text);
  const greets =
    /\b(?:hi|hello|hey|hallo|moin|servus|good (?:morning|afternoon|evening)|guten (?:morgen|tag|abend))\b|你好|您好|嗨/iu;
  return pick(greets.test(text) ? voice.greetings : voice.fillers, text);
}

/** A label is only a login until somebody says that it is their name. */
function isTold(name: string, asker: string, statements: readonly Statement[]): boolean {
  return !isNobody(name) && (name !== asker || statements.some(({ text }) => text.includes(name)));
}

const MAX_ITEMS = 8;

function knownAboutAsker({ statements, asker, name }: View): readonly string[] {
  const isMine = (text: string) => [asker, name].some((person) => person !== '' && text.includes(person));
  const noted = statements.filter(({ source, text }) => source === 'memory' && isMine(text)).map(({ text }) => text);
  const said = statements
    .filter(({ source, author }) => source === 'message' && author === asker)
    .flatMap(({ text, when }) => findingsIn(text, { label: asker, name }, when).map((finding) => finding.text));
  const told = statements.filter(({ source, text }) => source === 'summary' && isMine(text) && !/ asked: /.test(text));
  return distinct([...noted, ...said, ...told.map(({ text }) => text)]).slice(0, MAX_ITEMS);
}

function topicsOf({ statements, asker, name }: View): readonly string[] {
  const summaries = statements.filter(({ source }) => source === 'summary').map(({ text }) => text);
  const recent = statements
    .filter(({ source }) => source === 'message')
    .flatMap(({ text, author, when }) =>
      findingsIn(text, { label: author, name: author === asker ? name : author }, when).map((finding) => finding.text),
    );
  return distinct([...summaries.slice(-MAX_ITEMS), ...recent.slice(-MAX_ITEMS)]).slice(-MAX_ITEMS);
}

function distinct(texts: readonly string[]): readonly string[] {
  return texts
    .filter((text, index) => !texts.slice(0, index).some((other) => overlap(text, other) >= 0.8))
    .map((text) => shorten(text, 160));
}

function listed(items: readonly string[], tell: (items: readonly string[]) => string): string | null {
  return items.length === 0 ? null : tell(items);
}
