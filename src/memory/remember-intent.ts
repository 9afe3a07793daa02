/** Recognises a person's explicit request ("Remember that …") without a model. */
const ASKED =
  /\b(?:(?:please |pls |kindly )?remember(?: that| this|,|:| my| i\b| we\b)|don[’']?t forget(?: that| this|,|:)|keep in mind|make a note|note (?:that|this)|merk(?:e)? dir|vergiss nicht|souviens-toi|recuerda que)/iu;
const NOT_ASKED =
  /\b(?:do|did|can|could|don[’']?t|cannot|can[’']?t) (?:you|i|we) remember\b|\bi (?:don[’']?t |can[’']?t )?remember\b/iu;
const CJK_ASKED = /(?:请|請)?(?:记住|記住|记得|記得)|覚えて(?:おいて|ください)|기억해/u;

export function asksToRemember(text: string): boolean {
  if (CJK_ASKED.test(text)) return true;
  return ASKED.test(text) && !NOT_ASKED.test(text);
}
