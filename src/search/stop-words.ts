/** Words that tell nothing about what a text is about: left out of queries and comparisons. Contractions without apostrophe. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are arent as at be because been before being between both but by can cant
cannot could couldnt did didnt do does doesnt doing dont during each either few for from further get gets getting give
given go goes going gonna got had has hasnt have havent having he hed hell her here hers herself hes him himself his
how i id if ill im in into is isnt it itd itll its itself ive just kind know let lets like likely made make makes many
may me might more most much must my myself no nor not now of off oh ok okay on one ones only or other our ours out over
own please quite really s same say says shall she shed shell shes should shouldnt so some something such sure take tell
than thank thanks that thats the their theirs them themselves then there these they theyd theyll theyre theyve thing
things think this those through to too under until up upon us use used using very was wasnt we wed well were werent
weve what whats when where which while who whom whose why will with wont would wouldnt yeah yes yet you youd youll your
youre yours yourself youve
der die das den dem des ein eine einen einem einer und oder aber ich du er sie es wir ihr ist sind war hat haben mit
von zu auf fur an im nicht auch als wie was le la les un une des du de et ou est sont je tu il elle nous vous que qui
el los las una y o en con por para es son yo lo su`.split(/\s+/u),
);
