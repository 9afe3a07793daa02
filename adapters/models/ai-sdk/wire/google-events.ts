import { z } from 'zod';
import { count, name, text, words } from './loose.ts';
import { createRest, DATA, reshaped, withLines } from './response.ts';

const flag = z
  .union([z.boolean(), z.literal('true').transform(() => true)])
  .nullish()
  .catch(null);
const call = z.looseObject({ id: name, name: text });
const part = z.looseObject({
  text: words,
  thought: flag,
  thoughtSignature: text,
  functionCall: call.optional().catch(undefined),
});
const content = z.looseObject({ parts: z.array(part).nullish() }).nullish();
const candidate = z
  .looseObject({ content, finishReason: name, finishMessage: text, continuationToken: text })
  // Nobody reads these, whatever their form.
  .transform(({ safetyRatings, groundingMetadata, urlContextMetadata, ...rest }) => rest);
const usage = z
  .looseObject({
    promptTokenCount: count,
    candidatesTokenCount: count,
    totalTokenCount: count,
    cachedContentTokenCount: count,
    thoughtsTokenCount: count,
    toolUsePromptTokenCount: count,
    trafficType: text,
    serviceTier: text,
  })
  .transform(
    ({ promptTokensDetails, cacheTokensDetails, candidatesTokensDetails, toolUsePromptTokensDetails, ...counts }) =>
      counts,
  )
  .nullish()
  .catch(null);
const feedback = z
  .looseObject({ blockReason: text })
  .transform(({ safetyRatings, ...rest }) => rest)
  .nullish()
  .catch(null);
const event = z.looseObject({
  responseId: name,
  candidates: z.array(candidate).nullish(),
  usageMetadata: usage,
  promptFeedback: feedback,
});

const ENDED = /"finishReason" {0,2}: {0,2}"(?!FINISH_REASON_UNSPECIFIED)\w/;
const SAID = /"(?:text|functionCall)" {0,2}:/;
const COUNTED = /"usageMetadata" {0,2}: {0,2}\{/;

/**
 * The provider package rejects a whole event for one unexpected value, and silently leaves out a call whose id is no
 * text. Here, values in another form become what the package reads.
 */
export function withGoogleEvents(send: typeof fetch): typeof fetch {
  return withLines(send, () => ({
    change: (line) => (line.startsWith(DATA) ? reshaped(line, event) : line),
    isLast: () => false,
    restMs: createRest({ ended: ENDED, goesOn: SAID, counts: COUNTED }),
  }));
}
