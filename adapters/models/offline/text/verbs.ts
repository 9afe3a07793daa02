/** Verb forms without -s after a name: past tenses and modal verbs. */
export const fixedVerbs: ReadonlySet<string> = new Set(
  `can could will would shall should must might may ought cannot can't couldn't won't wouldn't shouldn't mustn't didn't
  was had did went said told got came saw took made gave found left met felt thought knew wrote ran ate drank lost won
  paid built sent spent started brought bought caught chose drew drove fell flew forgot grew heard held kept led meant
  met moved read rode rose sang sat slept spoke stood swam taught threw understood woke wore became began broke used
  sold fed fought hid hung laid lent lit rang sank shook shot stole stuck swore swept tore wept
  put set let cut hit cost quit signed`.split(/\s+/),
);

/** Words that can come between the subject and its verb. */
export const betweenWords: ReadonlySet<string> = new Set(
  `just really also always never usually still already currently now often sometimes definitely probably actually only
  mostly rarely recently simply totally absolutely generally normally finally nearly almost both truly honestly
  especially certainly clearly soon then`.split(/\s+/),
);

export const irregularThird: ReadonlyMap<string, string> = new Map([
  ['am', 'is'],
  ['have', 'has'],
  ['do', 'does'],
  ['go', 'goes'],
  ["don't", "doesn't"],
  ["haven't", "hasn't"],
]);
