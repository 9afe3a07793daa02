/** Words without a topic: they make neither two sentences similar nor a question answerable. */
export const stopWords: ReadonlySet<string> = new Set(
  `a an the and or but nor so yet if then than that this these those there here it its it's is are was were be been
  being am do does did done doing have has had having will would shall should can could may might must of in on at to
  from by for with about as into onto over under up down out off again once i me my mine myself we us our ours you your
  yours yourself he him his she her hers they them their theirs what which who whom whose when where why how all any
  both each few more most other some such no not only own same too very just also even ever never always please tell
  say said says know knows knew think thought remember recall remind again still now today really quite let lets let's
  one ones thing things something anything everything get got gets go goes went going come comes came make makes made
  much many want wanted wants like-so hey hi hello thanks thank ok okay yes yeah well oh um us i'm i've i'd i'll don't
  doesn't didn't can't won't isn't aren't wasn't weren't you're we're they're that's what's who's where's when's how's
  told mention mentioned earlier before ago last time far anyone someone could've does
  der die das den dem des ein eine einen einem einer und oder aber ich du er sie es wir ihr mich mir dich dir ist sind
  war waren hat habe hatte haben mit von zu auf für an im in am nicht auch als wie was wer wo wann warum welche welcher
  mein meine meinen meinem dein deine deinen noch mal denn doch schon nur sehr bitte kannst weißt`.split(/\s+/),
);

/**
 * Related words: a question about "drink" is answered by a sentence about tea. Each line: the word asked for, then the
 * words that answer it.
 */
const RELATED = `
drink: tea coffee espresso cappuccino latte water juice wine beer cocoa chocolate milk lemonade cola whisky matcha mate smoothie sip beverage
beverage: tea coffee espresso water juice wine beer cocoa milk lemonade drink
eat: allergic food pizza pasta rice bread vegan vegetarian sushi meat fish soup salad cheese curry noodles cook diet lunch dinner breakfast meal snack
food: eat pizza pasta rice bread vegan vegetarian sushi meat fish soup salad cheese curry noodles dish meal cuisine allergic
diet: vegan vegetarian gluten eat allergic
lunch: eat food noon meal
dinner: eat food evening meal
like: prefer love enjoy favourite favorite fond adore fan
love: like adore enjoy favourite favorite
prefer: like love rather favourite favorite choose
enjoy: like love fun hobby
favourite: favorite prefer love best like
favorite: favourite prefer love best like
dislike: hate stand avoid allergic awful
hate: dislike stand avoid awful
hobby: enjoy love play sport climbing chess hiking reading painting guitar piano knitting gardening running cycling
sport: climbing running cycling football tennis swimming hiking yoga play
live: home house flat apartment city town address moved move based reside street living
home: live house flat address moved based
city: live town moved based from
address: live street home
from: born live moved country
work: job employed employer company office engineer developer nurse teacher doctor designer profession career colleague
job: work employed employer company engineer developer nurse teacher doctor designer profession career
profession: work job engineer developer nurse teacher doctor designer
do: work job
company: work employer employed
name: called call named
called: name call named
birthday: born birth
born: birthday birth
age: old years born birthday
old: age years born
pet: dog cat rabbit hamster parrot fish horse puppy kitten
animal: dog cat rabbit hamster parrot horse pet
family: sister brother mother father wife husband partner son daughter parents kids children cousin uncle aunt
sibling: sister brother
child: son daughter kid kids children
partner: wife husband girlfriend boyfriend married
allergy: allergic
allergic: allergy intolerant
decide: decided decision agreed agree settled chose chosen choose
decision: decided decide agreed settled chose
agree: agreed decided decision
plan: planning planned trip going will schedule
deadline: due ship release launch by date
due: deadline
release: ship launch deadline version
ship: release launch deploy
meeting: meet call appointment standup
appointment: meeting dentist doctor
trip: travel travelling flight fly visit holiday vacation journey train
travel: trip flight fly visit holiday vacation journey
holiday: vacation trip travel
visit: trip travel see
password: code secret pin wifi
code: password pin number
number: phone code pin
phone: number call mobile
colour: color red blue green yellow purple orange black white pink
color: colour red blue green yellow purple orange black white pink
music: band song guitar piano jazz rock listen album concert play
language: speak english german french spanish chinese italian japanese learning
speak: language english german french spanish chinese italian japanese
car: drive bike vehicle
budget: cost price euro euros dollars money
cost: price budget euro euros dollars
money: cost price budget
todo: need must remind task
task: todo need must remind
need: must todo task
health: allergic sick doctor medicine
book: read reading novel author
read: book reading novel
film: movie cinema watch series
movie: film cinema watch series
weekend: saturday sunday
trinken: tee kaffee wasser wein bier saft kakao milch
essen: pizza pasta brot vegan vegetarisch reis suppe
heiße: name
heißt: name heiße
wohnen: wohne lebe stadt
wohne: lebe stadt
arbeiten: arbeite beruf firma
arbeite: beruf firma
beruf: arbeite
mag: liebe bevorzuge lieblings gern
喝: 茶 咖啡 水 酒 果汁 牛奶
吃: 面 饭 饺子 素 辣
`;

export const relatedWords: ReadonlyMap<string, readonly string[]> = new Map(
  RELATED.trim()
    .split('\n')
    .map((line) => {
      const [word = '', words = ''] = line.split(':');
      return [word.trim(), words.trim().split(/\s+/)] as const;
    }),
);

/** Number words, for tools with number fields. */
export const numberWords: ReadonlyMap<string, number> = new Map(
  'zero one two three four five six seven eight nine ten eleven twelve'.split(' ').map((word, index) => [word, index]),
);
