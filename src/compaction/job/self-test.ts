import { estimateText } from '../../context/measure/tokens.ts';
import { StrataError } from '../../domain/errors.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import { SUMMARY_TOOL } from '../answer/answer.ts';
import { isStructured, type Job } from './job.ts';
import { faultOfFirst } from './summarise.ts';
import { nonceFor } from './transcript-line.ts';

/** A conversation that any model can summarise, in the form of a transcript. */
const LINES = [
  '[#1 | 2026-03-02 Mon 09:00 | Mara] The boat to the island leaves on Saturday at 8:40 from the west pier. I have booked three seats.',
  '[#2 | 2026-03-02 Mon 09:04 | Jonas] Good. I will bring the blue tent and the small stove, so nobody else has to carry them.',
  '[#3 | 2026-03-02 Mon 09:10 | Mara] Then I will buy bread, cheese and apples for two days. Does Lena still want to come?',
  '[#4 | 2026-03-02 Mon 09:15 | Lena] Yes, and I can drive us to the pier. We should meet at my house at 7:30.',
];
const TARGET_WORDS = 40;
const MAX_TOKENS = 400;

/**
 * Throws `SUMMARY_REJECTED` unless the model can summarise a harmless text. If it can't, the refused text is not the
 * cause, so it must not be left out.
 */
export async function assertWorks(job: Job): Promise<void> {
  const { prompts, random } = job.services;
  const from = promptSourceOf(job.agent);
  const form = { structured: isStructured(job), targetWords: TARGET_WORDS, maxMemories: 1, examples: false };
  const nonce = nonceFor(LINES, random);
  const shown = { nonce, before: [], known: [], namesakes: [], lines: [...LINES], task: 'compact' as const };
  const fault = await faultOfFirst(job, {
    purpose: 'compact',
    prompt: (tools, strict) => prompts.render('compactor', { tools, strict, instruction: '', ...form }, from),
    structured: form.structured,
    tools: [SUMMARY_TOOL],
    transcript: prompts.render('transcript', shown, from).text,
    source: LINES.join('\n'),
    nonce,
    tokensOf: estimateText,
    limitTokens: MAX_TOKENS,
  });
  if (fault !== null)
    throw new StrataError('SUMMARY_REJECTED', {
      model: job.call.model.id,
      fault: `${fault}, even for a harmless text`,
    });
}
