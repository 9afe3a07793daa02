/** Phrases in providers' errors, by meaning. They are the only indication: the SDK has no class for most of them. */

/** The paid amount is used up; unlike a rate limit, waiting does not help. */
export const usedUp: readonly RegExp[] = [
  /insufficient[_ ](?:quota|balance|credits?|funds)/i,
  /exceeded your current quota, please check your plan and billing/i,
  /credit balance is too low/i,
  /billing_(?:hard_limit_reached|not_active)/i,
  /(?:requires|add) more credits/i,
  /budget has been exceeded/i,
  /credit limit exceeded/i,
  /account is suspended/i,
  // Limits of their own that people set at Anthropic and Google.
  /reached your specified (?:[a-z]+ )?(?:api )?usage limits/i,
  /(?:exceeded|reached) [^.\n]{0,40}\bspend(?:ing)? (?:cap|limit)\b/i,
  /\bcredits? (?:are|have been) (?:depleted|exhausted)\b/i,
];

/** Never an overflow, although some of these mention tokens and sizes. */
export const rateLimited: readonly RegExp[] = [
  /rate[ _-]?limit/i,
  /too many requests/i,
  /throttl/i,
  /too many tokens,? please wait/i,
  /\bquota\b/i,
  /tokens per (?:min|minute|day)\b/i,
  /\b(?:hourly|daily|weekly|monthly) (?:[a-z]+ )?limit\b/i,
  /requests per (?:min|minute|day)\b/i,
  /\((?:TPM|RPM|TPD|RPD)\)/,
  /resource_exhausted/i,
];

export const unavailable: readonly RegExp[] = [
  /\bservice (?:is )?(?:temporarily )?unavailable\b/i,
  /\boverloaded\b/i,
  /\bmodel (?:has |was |is (?:still |currently )?)?(?:crashed|unloaded|loading)\b/i,
  // The model wrote a call that its server could not read: the next answer may have a correct one.
  /tool_use_failed|failed to call a function|tool call validation failed/i,
];

/** Kinds of errors inside of a stream that no second attempt changes. */
export const wrongRequest: readonly RegExp[] = [
  /\binvalid[_ ]?(?:request|prompt|argument|input|parameter|value)/i,
  /\b(?:bad|malformed)[_ ]?request/i,
  /\b(?:authentication|permission|not_?found|unsupported)_?error/i,
];

/** A server may say so with status 400. */
export const rejectedKey: readonly RegExp[] = [
  /\bapi[ _-]?key (?:is )?(?:not valid|invalid|expired|not found|missing)/i,
  /\b(?:invalid|incorrect|wrong|missing) api[ _-]?key\b/i,
];

/** The same for a model that does not exist. */
export const unknownModel: readonly RegExp[] = [
  /\bmodel(?: [^\s]{1,100})? (?:does )?not exist/i,
  /\bnot a valid model\b/i,
  /\bmodel identifier is invalid\b/i,
  /\b(?:invalid|unknown) model(?: name| id)?: /i,
  /\bmodel_not_found\b/i,
  /\bno models? (?:is |are )?loaded\b/i,
];

export const overflowing: readonly RegExp[] = [
  /context[ _-]?(?:length|window)[ _]?exceeded/i,
  /exceed_context_size/i,
  /exceeds? (?:the |your )?(?:available )?context (?:window|size|limit|length)/i,
  /prompt(?: is)? too long/i,
  /request_too_large/i,
  /request payload size exceeds the limit/i,
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
  /expected maxlength: \d+, actual: \d+/i,
  /too many total text bytes/i,
  /max(?:imum)? input characters/i,
  /max_tokens must be at least 1, got -/i,
  /context limit: [\d,]+ ?\+ ?[\d,]+ ?>/i,
  /prompt ?超长|(?:输入|上下文|提示词?)(?:的?(?:长度|内容))?(?:过长|超长|超过|超出)/i,
  /(?:コンテキスト|入力)[^。]{0,30}(?:超え|超過|長すぎ)/,
];

/** For servers that are not listed: something that has a size, next to words for too much. */
export const tooLarge: readonly RegExp[] = [
  /\b(?:tokens?|prompt|inputs?|n_keep|context)\b(?!\[| should| deadline)[^.\n]{0,80}(?:\bexceed|\boverflow|\btoo (?:long|large|big|many)\b|\b(?:longer|larger|greater|more|less) than\b|>= |must be <= |only supports up to)/i,
  /\b(?:exceed(?:s|ed|ing)?|too (?:many|long|large|big))\b[^.\n]{0,60}\b(?:tokens?|prompt|context)\b(?! deadline)/i,
];

/** What else may be too much. */
export const otherLimits: readonly RegExp[] = [
  /(?:exceed|allowed|at most)[^.\n]{0,40}\b(?:output|completion) tokens\b/i,
  /\b(?:time|timed|timeout|deadline|seconds|plan|budget|billing|subscription)\b/i,
  /\bimages?\b(?! and text)/i,
];

/** The model has no tools, or the server was not configured to parse them. */
export const toolless: readonly RegExp[] = [
  /does(?: not|n't) support (?:tools?|function)/i,
  /(?:tools?|tool[ _]?(?:use|calls?|calling|choice)|functions?|function calling)`? (?:is|are) not (?:supported|enabled|available|allowed)/i,
  /no endpoints found that support tool use/i,
  /tool choice requires --enable-auto-tool-choice/i,
  /unsupported (?:parameter|value|field)s?:? ['"`]?(?:tools|tool_choice|functions)\b/i,
  /functionality not supported/i,
  /unsupported param(?:eter)?s?:? ['"`]?tools\b/i,
  /\btools param (?:requires|is not)/i,
  /does not support (?:the )?param(?:eter)?s:? {0,2}\[[^\]]{0,100}'tools'/i,
  /['"`]tools['"`] (?:is|are) not supported/i,
  /"body", {0,2}"tools"|\bbody\.tools\b/i,
];

/** The model does not see images. */
export const sightless: readonly RegExp[] = [
  /\bdo(?:es)?(?: not|n't) support (?:image|vision)/i,
  /\bimages?(?: inputs?)? (?:is|are) not supported/i,
  /\bno endpoints found that support image/i,
  /unknown variant ['"`]?image_url/i,
  /\bimage_url is only supported by\b/i,
  /\bat most 0 image/i,
  /\bnot a (?:multimodal|vision) model/i,
  /\bcontent must be a string\b/i,
];

/** The model sees images, but not one of these. */
export const unreadableImage: readonly RegExp[] = [
  // Anthropic names the place in the request.
  /\.image\.source\b/,
  // The codes of OpenAI.
  /\b(?:invalid|unsupported|empty|failed_to_download)_(?:base64_)?image|\bimage_(?:parse_error|too_|file_|content_policy)/,
  /\b(?:could not|cannot|can't|unable to|failed to) (?:process|parse|decode|identify|read|load|open|download) (?:the |input |an? )?image/i,
  /\bnot represent a valid image|\b(?:unsupported|invalid|corrupt(?:ed)?|broken|truncated) image|\bimage (?:is|was) (?:not valid|invalid|corrupt)/i,
  /\bunsupported mime type: image\//i,
];

/** A content filter did not let the request through. */
export const refused: readonly RegExp[] = [
  // Azure, Moonshot and others as a code; OpenAI.
  /\bcontent_filter\b|\bResponsibleAIPolicyViolation\b|\bcontent_policy_violation\b|\bContentPolicyViolation/,
  /\bcontent management policy\b/i,
  /\binvalid_prompt\b|\bprompt (?:was|has been|is) (?:flagged|blocked|rejected)\b/i,
  /\b(?:rejected|blocked) (?:as a result of|by) (?:our|the) safety system\b/i,
  // OpenRouter, xAI.
  /\binput (?:was|has been|is) flagged\b|\brequires moderation\b/i,
  /\bcontent violates (?:our |the )?usage guidelines\b|\bSAFETY_CHECK_TYPE/i,
  // Bedrock, Mistral and gateways.
  /\bguardrails?[_ ](?:policy|intervened|violat|block|trigger|check)|\bviolated[^.\n]{0,40} guardrail|\bblocked by[^.\n]{0,40} guardrail/i,
  /\bprompt blocked\b|\binput moderation\b|\bmoderation_(?:blocked|failed|error)\b/i,
  // Gemini.
  /\bpromptFeedback\b|\bblockReason\b|\bPROHIBITED_CONTENT\b/,
  // Alibaba, DeepSeek, Moonshot, Zhipu.
  /\bdata_?inspection_?failed\b|\bContent Exists Risk\b|\bconsidered high risk\b/i,
  /(?:输入|内容)[^。\n]{0,30}(?:不安全|敏感|违规|违法)/,
];

/** The same of the answer: another request may be answered. */
export const ofAnswers: readonly RegExp[] = [
  /\boutput (?:was |has been |is )?(?:blocked|filtered|flagged|data may contain)/i,
  /\bgenerated (?:content|text|output|response) (?:was|has been|is|may)\b/i,
];

/** Rejected because of the content, although the status suggests a bad key. */
export const moderated: readonly RegExp[] = [
  /\bflagged\b/i,
  /\bmoderation\b/i,
  /content (?:policy|filter|management)/i,
];

/** Another server would have to answer, such as the login of a network. */
export const elsewhere: readonly RegExp[] = [/^the server redirects to /m];

/** The request was cancelled, but nobody has stopped it. */
export const refusedByProxy: readonly RegExp[] = [/Proxy response \(\d+\)/];

export const cutOff: readonly RegExp[] = [
  /\bterminated\b/,
  /socket hang up/i,
  /\bunexpected EOF\b/i,
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
  /(?:context|input|prompt|model|token) (?:length|window|size|limit) (?:is|was)(?: only)? \(?([\d,]+)/i,
  /(?:context|allowed input|model|token) (?:length|window|size|limit) of(?: only)? ([\d,]+)/i,
  /(?:context length|context size|context window limit) \(([\d,]+)/i,
  /(?:maximum context length|model token limit|model max length|max size|allowed token size|max_seq_len):? ([\d,]+)/i,
  /"?n_ctx"?\s{0,5}[:=(]?\s{0,5}([\d,]+)/i,
  /> ?([\d,]+)(?: maximum|\b(?! ?\+))/i,
  /maximum number of tokens allowed \(?([\d,]+)/i,
  /range of input length should be \[\d+, ?([\d,]+)/i,
  /(?:exceeds the limit of|cannot exceed(?: the total tokens limit)?|must be <=|must have less than) ([\d,]+)/i,
  /(?:no more than|only supports up to|limit for this model is|max context of) ([\d,]+)/i,
  /model with ([\d,]+) maximum context/i,
  /limit(?:ed)? (?:is|of|to) ([\d,]+) tokens/i,
  /(?:最大上下文|上下文|最大输入)长度[^\d。]{0,10}([\d,]+)/,
  /(?:コンテキスト|入力)[^\d。]{0,15}上限[^\d。]{0,5}([\d,]+)/,
];

/** What follows a number that does not count tokens. */
export const otherUnit = /^ ?(?:bytes|characters|chars|[kmg]i?b)\b|^ ?(?:字节|字符|文字)/i;

/** A wait in the body, such as `20s` or `1m2.5s`. */
export const waits: readonly RegExp[] = [
  /(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)? ?(?:h|hours?|m|min|minutes?|s|sec|seconds?|ms|milliseconds?)(?![a-z]) {0,2}){1,4})/i,
  /"retryDelay":\s*"(\d+(?:\.\d+)?s)"/i,
];

export function says(text: string, phrases: readonly RegExp[]): boolean {
  return phrases.some((phrase) => phrase.test(text));
}
