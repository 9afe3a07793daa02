/** Phrases in providers' errors, by meaning. They are the only indication: the SDK has no class for most of them. */

/** The paid amount is used up; unlike a rate limit, waiting does not help. */
export const usedUp: readonly RegExp[] = [
  /insufficient[_ ](?:quota|balance|credits?|funds)/i,
  /exceeded your current quota, please check your plan and billing/i,
  /credit balance is too low/i,
  /billing_(?:hard_limit_reached|not_active)/i,
  /(?:requires|add) more credits/i,
];

/** Never an overflow, although some of these mention tokens and sizes. */
export const rateLimited: readonly RegExp[] = [
  /rate[ _-]?limit/i,
  /too many requests/i,
  /throttl/i,
  /too many tokens,? please wait/i,
  /\bquota\b/i,
  /tokens per (?:min|minute|day)\b/i,
  /requests per (?:min|minute|day)\b/i,
  /\((?:TPM|RPM|TPD|RPD)\)/,
  /resource_exhausted/i,
];

export const unavailable: readonly RegExp[] = [/\bservice (?:is )?(?:temporarily )?unavailable\b/i, /\boverloaded\b/i];

export const overflowing: readonly RegExp[] = [
  /context[ _-]?(?:length|window)[ _]?exceeded/i,
  /exceed_context_size/i,
  /exceeds? (?:the |your )?(?:available )?context (?:window|size|limit|length)/i,
  /prompt(?: is)? too long/i,
  /request_too_large/i,
  /(?:maximum|max) (?:context|prompt|input|model) length/i,
  /maximum allowed input length/i,
  /longer than the model'?s context length/i,
  /exceeds? (?:the )?model'?s? (?:maximum )?(?:context|token) (?:length|limit|window)/i,
  /token count.{0,40}exceeds the maximum number of tokens/i,
  /(?:greater|larger|longer) than the context (?:length|window|size)/i,
  /too large for model with/i,
  /reduce the length of the (?:messages|input|prompt)/i,
  /input (?:is )?too long/i,
  /range of input length/i,
  /model_context_window_exceeded/i,
  /configured context size/i,
  /context limit: [\d,]+ ?\+ ?[\d,]+ ?>/i,
  /prompt ?超长|(?:输入|上下文|提示词?)(?:的?(?:长度|内容))?(?:过长|超长|超过|超出)/i,
  /(?:コンテキスト|入力)[^。]{0,30}(?:超え|超過|長すぎ)/,
];

/** The model has no tools, or the server was not configured to parse them. */
export const toolless: readonly RegExp[] = [
  /does(?: not|n't) support (?:tools?|function)/i,
  /(?:tools?|tool[ _]?(?:use|calls?|calling|choice)|functions?|function calling)`? (?:is|are) not (?:supported|enabled|available|allowed)/i,
  /no endpoints found that support tool use/i,
  /tool choice requires --enable-auto-tool-choice/i,
  /unsupported (?:parameter|value|field)s?:? ['"`]?(?:tools|tool_choice|functions)\b/i,
  /functionality not supported/i,
];

/** Rejected because of the content, although the status suggests a bad key. */
export const moderated: readonly RegExp[] = [
  /\bflagged\b/i,
  /\bmoderation\b/i,
  /content (?:policy|filter|management)/i,
];

export const cutOff: readonly RegExp[] = [
  /\bterminated\b/,
  /socket hang up/i,
  /other side closed/i,
  /fetch failed/i,
  /cannot connect to api/i,
  /ECONNRE(?:SET|FUSED)|EPIPE|ENOTFOUND|EAI_AGAIN|UND_ERR_SOCKET/,
  /failed to process successful response/i,
  /invalid json response/i,
  /json parsing failed/i,
  /type validation failed/i,
  /no output generated/i,
  /stream ended without/i,
  /server_error|internal server error|bad gateway/i,
];

export const timedOut: readonly RegExp[] = [/UND_ERR_(?:HEADERS|BODY|CONNECT)_TIMEOUT/, /ETIMEDOUT/];

/** Each finds the window in an error. The length of the prompt, or its excess, is not the window. */
export const windows: readonly RegExp[] = [
  /(?:context|input|prompt|model) (?:length|window|size|limit) (?:is|of|was)(?: only)? \(?([\d,]+)/i,
  /context length \(([\d,]+)/i,
  /context size \(([\d,]+)/i,
  /"?n_ctx"?\s{0,5}[:=]?\s{0,5}([\d,]+)/i,
  /> ?([\d,]+)(?: maximum|\b(?! ?\+))/i,
  /maximum number of tokens allowed \(([\d,]+)\)/i,
  /model with ([\d,]+) maximum context/i,
  /limit(?:ed)? (?:is|of|to) ([\d,]+) tokens/i,
  /(?:最大上下文|上下文|最大输入)长度[^\d。]{0,10}([\d,]+)/,
  /(?:コンテキスト|入力)[^\d。]{0,15}上限[^\d。]{0,5}([\d,]+)/,
];

/** A wait in the body, in seconds, minutes or milliseconds. */
export const waits: readonly RegExp[] = [
  /(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(ms|milliseconds?|s|seconds?|m|minutes?)\b/i,
  /"retryDelay":\s*"(\d+(?:\.\d+)?)(s)"/i,
];

export function says(text: string, phrases: readonly RegExp[]): boolean {
  return phrases.some((phrase) => phrase.test(text));
}
