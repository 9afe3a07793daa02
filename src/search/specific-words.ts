/** Words by which prohibitions, promises and dates are recognised, in the most spoken languages. */

export const PROHIBITION =
  /^(?:please |and |but |so |also )?(?:don['’]?t|do not|never)\b|\b(?:must ?n['’]t|must not|may not|shall not|should never|must never|not allowed|no longer allowed|forbidden|prohibited|under no circumstances|off limits|darf nicht|dürfen nicht|darfst nicht|auf keinen fall|verboten|niemals|interdit|il ne faut pas|ne jamais|prohibido|no se puede|no debes|nunca|vietato|non si deve|proibido|não pode|verboden|nooit|nie wolno|zabronione|yasak)\b|(?:нельзя|запрещено|никогда не|禁止|不要|不许|不准|不得|别再|てはいけない|しないで|ないでください|하지 마|금지|안 된다|ممنوع|لا تفعل|मत करो|मना है)/iu;

export const PROMISE =
  /\b(?:i promise|i['’]ll|i will|we['’]ll|we will|i swear|you have my word|ich verspreche|ich werde|wir werden|je promets|je vais|nous allons|prometo|voy a|vamos a|te prometo|prometto|vou|ik beloof|ik zal|obiecuję|söz veriyorum)\b|(?:обещаю|я сделаю|我会|我保证|我答应|約束|します|する予定|약속|할게|أعدك|मैं करूँगा)/iu;

const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ru', 'uk', 'tr', 'sv'] as const;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A Monday, and the first of a month in 2024. */
const MONDAY = Date.UTC(2024, 0, 1);

/** The names of months and weekdays, lower case, each with its English name. */
export const CALENDAR: ReadonlyMap<string, string> = new Map([
  ...LANGUAGES.flatMap((language) => namesIn(language, 'month')),
  ...LANGUAGES.flatMap((language) => namesIn(language, 'weekday')),
]);

function namesIn(language: string, field: 'month' | 'weekday'): readonly (readonly [string, string])[] {
  const days = Array.from({ length: field === 'month' ? 12 : 7 }, (_, index) =>
    field === 'month' ? Date.UTC(2024, index, 15) : MONDAY + index * DAY_MS,
  );
  const english = new Intl.DateTimeFormat('en', { [field]: 'long', timeZone: 'UTC' });
  // Next to a day, some languages inflect the month.
  const alone = new Intl.DateTimeFormat(language, { [field]: 'long', timeZone: 'UTC' });
  const beside = new Intl.DateTimeFormat(language, { [field]: 'long', day: 'numeric', timeZone: 'UTC' });
  return days.flatMap((day) => {
    const inflected = beside.formatToParts(day).find(({ type }) => type === field)?.value ?? '';
    const name = english.format(day).toLowerCase();
    return [alone.format(day), inflected]
      .filter((word) => word !== '' && !word.includes(' '))
      .map((word) => [word.toLowerCase(), name] as const);
  });
}
