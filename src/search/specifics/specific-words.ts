/** Words by which prohibitions, promises and dates are recognised, in the most spoken languages. */

export const PROHIBITION =
  /^(?:please |and |but |so |also )?(?:don['’]?t|do not|never)\b|\b(?:must ?n['’]t|must not|may not|shall not|should never|must never|not allowed|no longer allowed|forbidden|prohibited|under no circumstances|off limits|darf nicht|dürfen nicht|darfst nicht|auf keinen fall|verboten|niemals|interdit|il ne faut pas|ne jamais|prohibido|no se puede|no debes|nunca|vietato|non si deve|proibido|não pode|verboden|nooit|nie wolno|zabronione|yasak)\b|(?:нельзя|запрещено|никогда не|禁止|不要|不许|不准|不得|别再|てはいけない|しないで|ないでください|하지 마|금지|안 된다|ممنوع|لا تفعل|मत करो|मना है)/iu;

export const PROMISE =
  /\b(?:i promise|i['’]ll|i will|we['’]ll|we will|i swear|you have my word|ich verspreche|ich werde|wir werden|je promets|je vais|nous allons|prometo|voy a|vamos a|te prometo|prometto|vou|ik beloof|ik zal|obiecuję|söz veriyorum)\b|(?:обещаю|я сделаю|我会|我保证|我答应|約束|します|する予定|약속|할게|أعدك|मैं करूँगा)/iu;

/** In twelve languages, lower case, also as inflected next to a day. Asking the system for them costs 16 MB. */
const NAMES = {
  january: 'january januar janvier enero gennaio janeiro januari styczeń stycznia январь января січень січня ocak',
  february:
    'february februar février febrero febbraio fevereiro februari luty lutego февраль февраля лютий лютого şubat',
  march: 'march märz mars marzo março maart marzec marca март марта березень березня mart',
  april: 'april avril abril aprile kwiecień kwietnia апрель апреля квітень квітня nisan',
  may: 'may mai mayo maggio maio mei maj maja май мая травень травня mayıs',
  june: 'june juni juin junio giugno junho czerwiec czerwca июнь июня червень червня haziran',
  july: 'july juli juillet julio luglio julho lipiec lipca июль июля липень липня temmuz',
  august: 'august août agosto augustus sierpień sierpnia август августа серпень серпня ağustos augusti',
  september:
    'september septembre septiembre settembre setembro wrzesień września сентябрь сентября вересень вересня eylül',
  october:
    'october oktober octobre octubre ottobre outubro październik października октябрь октября жовтень жовтня ekim',
  november: 'november novembre noviembre novembro listopad listopada ноябрь ноября листопад листопада kasım',
  december:
    'december dezember décembre diciembre dicembre dezembro grudzień grudnia декабрь декабря грудень грудня aralık',
  monday: 'monday montag lundi lunes lunedì segunda-feira maandag poniedziałek понедельник понеділок pazartesi måndag',
  tuesday: 'tuesday dienstag mardi martes martedì terça-feira dinsdag wtorek вторник вівторок salı tisdag',
  wednesday: 'wednesday mittwoch mercredi miércoles mercoledì quarta-feira woensdag środa среда середа çarşamba onsdag',
  thursday: 'thursday donnerstag jeudi jueves giovedì quinta-feira donderdag czwartek четверг четвер perşembe torsdag',
  friday: 'friday freitag vendredi viernes venerdì sexta-feira vrijdag piątek пятница пʼятниця cuma fredag',
  saturday: 'saturday samstag samedi sábado sabato zaterdag sobota суббота субота cumartesi lördag',
  sunday: 'sunday sonntag dimanche domingo domenica zondag niedziela воскресенье неділя pazar söndag',
};

/** The English names of the months in order. */
export const MONTHS = Object.keys(NAMES).slice(0, 12);

/** The names of months and weekdays, each with its English name. */
export const CALENDAR: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([english, names]) => names.split(' ').map((name) => [name, english] as const)),
);
