import { createLocalQueue } from '../adapters/queues/local/index.ts';
import { countSpecifics } from '../src/search/specifics/losses.ts';
import { readAccount } from '../src/search/specifics/read-account.ts';
import { silentLog } from '../src/util/log/silent-log.ts';
import { providerOf, replyModel } from './models.ts';
import { type Recorded, type RecordedMessage, readRecorded, storeRecorded } from './recorded.ts';
import { largeReader } from './settling.ts';
import { type World, withWorld } from './world.ts';

/** A message with a specific, and a question for it in other words. */
interface Plant {
  readonly said: string;
  readonly specific: string;
  readonly question: string;
}

const plants = (text: string): readonly Plant[] =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const [said = '', specific = '', question = ''] = line.split(' | ').map((part) => part.trim());
      return { said, specific, question };
    });

const PLANTS = plants(`
  The alarm in the cabin is switched off with 7391 | 7391 | What do I type to disarm the cabin?
  My locker at the gym opens with 22-8-31 | 22-8-31 | How do I get into my gym storage?
  The wifi at the lake house is called Otter and the key is Qx7-pine | Qx7-pine | What was the password for the internet at the lake?
  Our booking reference for the ferry is KLM88Z | KLM88Z | Which code do I show for the boat reservation?
  The invoice from the plumber came to 1,840 euros | 1,840 | How much did the plumbing repair cost?
  Grandma's recipe takes 350 grams of chestnut flour | 350 | How much flour goes into grandma's cake?
  The boiler was last serviced on 14 March 2024 | 14 March 2024 | When did somebody check the heating boiler?
  My sister's flight lands at 17:45 on Thursday | 17:45 | What time does my sister arrive?
  The passport of my son expires on 9 August 2027 | 9 August 2027 | Until when is my son's passport valid?
  The contract with the landlord ends on 30 June | 30 June | When does the rental agreement with the landlord run out?
  The photos of the wedding are at https://album.example/w/91ab | https://album.example/w/91ab | Where can I look at the wedding pictures?
  The manual for the dishwasher is at https://help.example/dw-430 | https://help.example/dw-430 | Do you have the link to the dishwasher instructions?
  The sheet with the budget is in /home/ada/finance/plan-b.ods | /home/ada/finance/plan-b.ods | Which file holds our budget?
  The backup script lives in /opt/tools/nightly.sh | /opt/tools/nightly.sh | Where is the script that makes the backups?
  The vet who treated the cat is called Doctor Brandvold | Brandvold | Who looked after the sick cat?
  The piano teacher is Mrs Okonkwo from the corner house | Okonkwo | What is the name of the woman who gives piano lessons?
  The new neighbours are called Teodora and Ilja | Teodora | What are the names of the people next door, the neighbours?
  The mechanic recommended the garage Zelenka for the brakes | Zelenka | Which garage should repair the brakes?
  Never give the dog any grapes, not even one | grapes | What must the dog not eat?
  Please do not water the orchid more than twice a month | orchid | How often may I water the orchid at most?
  Never open the valve in the cellar while the pump is running | valve | What is forbidden in the cellar when the pump runs?
  I promise to bring the telescope back before the summer party | telescope | What did I promise to return before the party?
  I'll pay back the 60 pounds for the concert on payday | 60 | How much do I owe for the concert?
  We'll paint the fence in exchange for the canoe | canoe | What do we get for painting the fence?
  My blood type is AB negative, the doctor said | AB | Which blood group did the doctor find?
  The license plate of the rental car is B-XT 4471 | 4471 | What is the number plate of the car we rented?
  The size of the frame for the poster is 61 by 91 centimetres | 61 | How big is the poster frame?
  My shoe size for the skates is 43 and a half | 43 | Which size do I need for skates?
  The train to Utrecht leaves from platform 11b | 11b | Which platform for the Utrecht train?
  The tax number of the club is 27/660/41123 | 27/660/41123 | Which tax id does our club have?
  The spare keys are with Rosalind in flat 12 | Rosalind | Who keeps the spare keys?
  The router sits behind the bookcase and its address is 10.0.0.138 | 10.0.0.138 | Which address does the router have?
  Our table at the restaurant is booked under the name Valkenburg | Valkenburg | Under which name did we reserve at the restaurant?
  The deposit for the kayak was 75 dollars | 75 | What did we pay as a deposit for the kayak?
  The school concert was moved to 3 December | 3 December | On which day is the concert of the school?
  The serial number of the drill is HR2630-0917 | HR2630-0917 | I need the serial of the drill, what was it?
  The colour of the bathroom paint is called Sea Glass 3 | Sea Glass | Which shade did we choose for the bathroom walls?
  My cousin's house number in Ghent is 218 | 218 | At which number does my cousin in Ghent live?
`);

export interface Planted {
  readonly summaries: number;
  /** Shares of the plants: still in view, kept by a summary, or in its list of what it lost. */
  readonly reachable: number;
  readonly inView: number;
  /** The share of all specifics that the live summaries keep. */
  readonly kept: number;
  /** Questions whose message was not in view. */
  readonly missed: readonly string[];
}

/** Messages stored between two looks, so that many summaries take more than one. */
const STORED_AT_ONCE = 20;
const TALK_BEFORE_EACH = 2;

/** Plants among recorded talk, judged when at least that many summaries were made. Null without the data. */
export async function plantAmongTalk(
  windowTokens: number,
  wanted: readonly number[],
): Promise<readonly Planted[] | null> {
  const talks = readRecorded('locomo');
  if (talks === null) return null;
  const queue = createLocalQueue({ log: silentLog });
  const agent = { context_window: windowTokens };
  return await withWorld({ models: providerOf(replyModel(), largeReader()), queue, agent }, async (world) => {
    let summaries = 0;
    world.bot.events.on((event) => {
      if (event.kind === 'summary.written') summaries += 1;
    });
    const results: Planted[] = [];
    for (const messages of batches(plantedIn(talks))) {
      const { id } = await storeRecorded(world.storage, { workspace: 'planted', name: 'talk', messages });
      queue.kick(id);
      await queue.idle();
      if (summaries >= (wanted[results.length] ?? 0)) results.push(await judge(world, { id, summaries }));
      if (results.length === wanted.length) break;
    }
    return results;
  });
}

function plantedIn(talks: readonly Recorded[]): readonly RecordedMessage[] {
  const talk = talks.flatMap(({ name, messages }) =>
    messages.map((message) => ({ ...message, id: `${name} ${message.id}` })),
  );
  const among = PLANTS.flatMap(({ said }, index) => [
    ...talk.slice(TALK_BEFORE_EACH * index, TALK_BEFORE_EACH * (index + 1)),
    { id: idOf(index), author: 'Ada', text: `${said}.` },
  ]);
  return [...among, ...talk.slice(TALK_BEFORE_EACH * PLANTS.length)];
}

const idOf = (index: number) => `plant ${index}`;

function* batches(messages: readonly RecordedMessage[]): Generator<readonly RecordedMessage[]> {
  const first = PLANTS.length * (TALK_BEFORE_EACH + 1);
  yield messages.slice(0, first);
  for (let from = first; from < messages.length; from += STORED_AT_ONCE)
    yield messages.slice(from, from + STORED_AT_ONCE);
}

async function judge(
  { bot, storage: { store } }: World,
  { id, summaries }: { readonly id: number; readonly summaries: number },
): Promise<Planted> {
  const conversation = await store.conversations.get(id);
  if (conversation === null) throw new Error('The conversation is missing');
  const accounts = await Promise.all((await store.summaries.live(id)).map((summary) => readAccount(store, summary)));
  const account = { carried: accounts.flatMap(({ carried }) => carried), lost: accounts.flatMap(({ lost }) => lost) };
  const known = new Set([...account.carried, ...account.lost].map(({ seq, text }) => `${seq} ${text}`));
  const missed: string[] = [];
  let reachable = 0;
  for (const [index, { question, specific }] of PLANTS.entries()) {
    const seq = (await store.transcript.byExternalId(id, idOf(index)))?.seq ?? 0;
    if (seq > conversation.compactedUpto || [...known].some((one) => isOf(one, { seq, specific }))) reachable += 1;
    const { messages } = await bot.commandServices.preview(conversation, question);
    if (!messages.includes(idOf(index))) missed.push(question);
  }
  const { specifics, kept } = countSpecifics(account);
  const inView = 1 - missed.length / PLANTS.length;
  return { summaries, reachable: reachable / PLANTS.length, inView, kept: kept / Math.max(1, specifics), missed };
}

function isOf(known: string, { seq, specific }: { readonly seq: number; readonly specific: string }): boolean {
  return known.startsWith(`${seq} `) && known.includes(specific);
}

if (import.meta.main) console.log(await plantAmongTalk(Number(process.argv[2] ?? 8000), [1, 5, 20]));
