import { normalForm } from '../../util/text/normal-form.ts';
import { withWordEdges } from '../../util/text/word-edges.ts';

/** Recognises a person's explicit request ("Remember that …") without a model. */
const ASKED = withWordEdges(
  /\b(?:(?:please |pls |kindly )?remember(?: that| this|,|:| my| i\b| we\b)|don[’']?t forget(?: that| this|,|:)|keep in mind|make a note|note (?:that|this)|merk(?:e)? dir|vergiss nicht|souviens-toi|recuerda que|muista(?: että|,|:)|ingat(?: bahwa| ya|,|:)|تذكر[يّ]? أن)/iu,
);
const ASKED_WHOLE = withWordEdges(
  /\b(?:n[’']oublie(?:z)? pas|no olvides que|não (?:se )?esqueças?|lembra-te|lembre-se|ricordati|ricorda che|non dimenticare|onthoud|vergeet niet|kom ihåg|glöm inte|husk (?:at|på)|glem ikke|zapamiętaj(?:cie)?|nie zapomnij|zapamatuj(?:te)? si|nezapomeň(?:te)?|запомни(?:те)?|не забуд(?:ь|ьте)|запам[’'ʼ]?ятай(?:те)?|unutma(?:yın)?|aklında tut|älä unohda|jegyezd meg|ne felejtsd el|να θυμάσαι|μην ξεχάσεις|لا تنس[ىي]?|תזכ(?:ור|רי)|אל תשכח[יו]?|یادت باش[هد]|فراموش نکن|याद रख(?:ना|ो|िए)|मत भूल(?:ना|ो)|hãy nhớ|đừng quên|jangan lupa)\b/iu,
);
const NOT_ASKED =
  /\b(?:do|did|can|could|don[’']?t|cannot|can[’']?t) (?:you|i|we) remember\b|\bi (?:don[’']?t |can[’']?t )?remember\b/iu;
/** In scripts without spaces, or with endings attached. */
const ASKED_UNSPACED =
  /(?:请|請)?(?:记住|記住|记得|記得)|覚えて(?:おいて|ください)|忘れないで|기억해|잊지 ?[마말]|จำไว้|จําไว้|อย่าลืม|ចាំថា|កុំភ្លេច/u;

export function asksToRemember(text: string): boolean {
  const written = normalForm(text, 'NFC');
  if (ASKED_UNSPACED.test(written) || ASKED_WHOLE.test(written)) return true;
  return ASKED.test(written) && !NOT_ASKED.test(written);
}
