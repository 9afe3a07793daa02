/** Names in twenty languages, alone and as in a date, where some of them are inflected. */
const MONTHS = namesIn(`
  january february march april may june july august september october november december januar februar märz mai
  juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre décembre
  enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio aprile
  maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro
  novembro dezembro januari februari maart mei augustus maj augusti marts desember tammikuu helmikuu maaliskuu
  huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu tammikuuta helmikuuta maaliskuuta
  huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta styczeń luty
  marzec kwiecień czerwiec lipiec sierpień wrzesień październik listopad grudzień stycznia lutego marca kwietnia
  maja czerwca lipca sierpnia września października listopada grudnia leden únor březen duben květen červen
  červenec srpen září říjen prosinec ledna února března dubna května června července srpna října listopadu
  prosince január február március április május június július augusztus szeptember október ianuarie februarie
  martie aprilie iunie iulie septembrie octombrie noiembrie decembrie ocak şubat mart nisan mayıs haziran temmuz
  ağustos eylül ekim kasım aralık январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
  января февраля марта апреля мая июня июля августа сентября октября ноября декабря січень лютий березень квітень
  травень червень липень серпень вересень жовтень листопад грудень січня лютого березня квітня травня червня липня
  серпня вересня жовтня листопада грудня ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου
  σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
`);
const WEEKDAYS = namesIn(`
  thursday sunday wednesday friday monday saturday tuesday donnerstag sonntag mittwoch freitag montag samstag
  dienstag jeudi dimanche mercredi vendredi lundi samedi mardi jueves domingo miércoles viernes lunes sábado
  martes giovedì domenica mercoledì venerdì lunedì sabato martedì donderdag zondag woensdag vrijdag maandag
  zaterdag dinsdag torsdag söndag onsdag fredag måndag lördag tisdag søndag mandag lørdag tirsdag torstai
  sunnuntai keskiviikko perjantai maanantai lauantai tiistai czwartek niedziela środa piątek poniedziałek sobota
  wtorek čtvrtek neděle středa pátek pondělí úterý csütörtök vasárnap szerda péntek hétfő szombat kedd joi
  duminică miercuri vineri luni sâmbătă marți perşembe pazar çarşamba cuma pazartesi cumartesi salı четверг
  воскресенье среда пятница понедельник суббота вторник четвер неділя середа пʼятниця понеділок субота вівторок
  πέμπτη κυριακή τετάρτη παρασκευή δευτέρα σάββατο τρίτη
`);

/** `2026-01-13`, `13.01.2026`, `1/13/26`, with or without a time. */
const NUMERIC = '\\d{4}-\\d{2}-\\d{2}(?:[T ]\\d{2}:\\d{2})?|\\d{1,2}[./]\\d{1,2}[./](?:\\d{4}|\\d{2})';
const HAN = '(?:\\d{4}年)?\\d{1,2}月(?:\\d{1,2}[日号])?';
const DAY = '\\d{1,2}(?:st|nd|rd|th|er|º|ª|\\.)?';
const WRITTEN = datesWith();

/** The text without its dates. People say "tomorrow", and a model writes which day that is, as it is told to. */
export function withoutDates(text: string): string {
  return /\d/u.test(text) ? text.replace(WRITTEN, ' ') : text;
}

/** The longest first, because one may begin another one. */
function namesIn(list: string): string {
  const names = list.trim().split(/\s+/u);
  return names.toSorted((one, other) => other.length - one.length).join('|');
}

function datesWith(): RegExp {
  const weekday = `(?:(?:${WEEKDAYS}),? (?:the |den |dem )?)?`;
  const month = `(?:${MONTHS})\\.?`;
  const year = ',? (?:de |del )?\\d{4}';
  const dates = [
    `${DAY} ?(?:of |de |di )?${month}(?:${year})?`,
    `${month} ${DAY}(?:${year})?`,
    `${month}${year}`,
    NUMERIC,
  ];
  return new RegExp(`(?<![\\p{L}\\p{N}])${weekday}(?:${dates.join('|')})(?![\\p{L}\\p{N}])|${HAN}`, 'giu');
}
