import type { Voice } from './voice.ts';

export const english: Voice = {
  greetings: ['Hello!', 'Hi there!', 'Hello, good to see you.', 'Hi! What is on your mind?'],
  thanks: ['You are welcome.', 'Any time.', 'Gladly.', 'My pleasure.'],
  farewells: [
    'Goodbye! I will still know this when you come back.',
    'See you. What you told me stays here.',
    'Bye for now!',
  ],
  wellbeing: ['All is well here, thank you. What can I keep in mind for you?', 'Fine, thank you. And how are you?'],
  fillers: ['All right.', 'Understood.', 'Good.', 'Okay.'],
  noted: [
    (said) => `Noted: ${said}`,
    (said) => `Got it: ${said}`,
    (said) => `Good to know: ${said}`,
    (said) => `I will keep in mind that ${said}`,
  ],
  promised: [(said) => `Understood, from now on: ${said}`, (said) => `I will hold to that: ${said}`],
  decided: [(said) => `Noted as decided: ${said}`, (said) => `A decision, then: ${said}`],
  reminded: [
    (said) => `I keep that as a to-do, and cannot call you when it is time; ask me what is to be done: ${said}`,
    (said) => `Noted as a to-do. I cannot remind you by myself, so ask me for it: ${said}`,
  ],
  heard: [
    'I see. Go on.',
    'Thanks for telling me.',
    'Understood, I have read that.',
    'Interesting. Tell me more if you like.',
    'I follow you so far.',
  ],
  unknown: [
    'I am only the built-in demo and know nothing but this conversation, so I cannot answer that.',
    'That is beyond a built-in demo: I only know what was said here.',
  ],
  introduction:
    'I am the built-in demo model. I cannot really think, but what I remember is real: I answer from what you told me, from my summaries and from my memories.',
  abilities:
    'Tell me things ("I prefer tea", "we decided to ship on Friday", "I have to call Grace") and ask me later. Keep talking and watch /status: old messages turn into summaries while we talk. /memory list shows what I remember, /context what I see. To talk to a model that thinks, set a key such as OPENAI_API_KEY, or name a model in config.toml.',
  welcome: (name) => `Nice to meet you, ${name}.`,
  fromMemory: (text, when) => `${text} I know that from my memories${when === '' ? '' : ` (noted ${when})`}.`,
  fromSummary: (text, range) => `${text} I have that from my summary of messages ${range}.`,
  fromInstruction: (text, author) =>
    `There is a standing instruction${author === '' ? '' : ` from ${author}`}: ${text}`,
  fromMessage: (text, { author, when, byAsker }) =>
    byAsker
      ? `You${author === '' ? '' : `, ${author},`} said${at(when)}: “${text}”`
      : `${author || 'Somebody'} said${at(when)}: “${text}”`,
  fromSelf: (text) => `I said earlier: “${text}”`,
  fromTool: (text) => `A tool told me: ${text}`,
  also: (text) => `Also: ${text}`,
  nothingFound: (searched) =>
    searched === 'all'
      ? 'I looked through everything that was said here, and found nothing about that.'
      : 'I see nothing about that in our conversation, my summaries or my memories.',
  toolGave: (tool, text) => `${tool} gives: ${text}`,
  toolFailed: (tool, text) => `${tool} did not work: ${text}`,
  saved: (text) => `Saved: ${text}`,
  notSaved: (reason) => `I did not save that: ${reason}`,
  timeIs: (now) => `It is ${now}.`,
  nameIs: (name) => `You are ${name}.`,
  knownAbout: (items) => `This is what I know about you:\n${items.map((item) => `- ${item}`).join('\n')}`,
  talkedAbout: (items) => `So far:\n${items.map((item) => `- ${item}`).join('\n')}`,
};

function at(when: string): string {
  return when === '' ? ' earlier' : ` on ${when.replace(' ', ' at ')}`;
}
