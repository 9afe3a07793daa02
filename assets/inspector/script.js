/** The one script of the inspector. Every page also works without it. */

const chosen = localStorage.getItem('theme');
if (chosen !== null) document.documentElement.dataset.theme = chosen;

document.addEventListener('DOMContentLoaded', () => {
  setUpTheme();
  setUpKeys();
  // Compares with the page as the server wrote it, so it comes before the times.
  setUpLive();
  showTimes(document);
  setInterval(() => showTimes(document), 60_000);
  setUpForms();
  setUpTraces();
  setUpTrials();
  setUpCopies();
});

function setUpTheme() {
  const toggle = document.querySelector('[data-theme-toggle]');
  if (toggle === null) return;
  toggle.hidden = false;
  toggle.addEventListener('click', () => {
    const { dataset } = document.documentElement;
    const isDark =
      (dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
    dataset.theme = isDark ? 'light' : 'dark';
    localStorage.setItem('theme', dataset.theme);
  });
}

/** Times in the viewer's zone, relative to now, exact on hover. */
function showTimes(root) {
  const relative = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: 'auto' });
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  for (const element of root.querySelectorAll('time')) {
    const date = new Date(element.dateTime);
    element.title = exact.format(date);
    element.textContent = relativeText(relative, date - Date.now());
  }
}

const UNITS = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

function relativeText(format, differenceMs) {
  for (const [unit, ms] of UNITS) {
    if (Math.abs(differenceMs) >= ms) return format.format(Math.trunc(differenceMs / ms), unit);
  }
  return format.format(Math.trunc(differenceMs / 1000), 'second');
}

function setUpKeys() {
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') {
      event.preventDefault();
      document.querySelector('#find')?.focus();
    } else if (event.key === '?') document.querySelector('#keys')?.showModal();
    else if (event.key === 'j') moveBy(1);
    else if (event.key === 'k') moveBy(-1);
  });
}

/** Moves to the next or previous row and focuses its first link, so that Enter opens it. */
function moveBy(step) {
  const rows = [...document.querySelectorAll('[data-row]')];
  const current = rows.findIndex((row) => row.classList.contains('current'));
  const next = rows[Math.min(rows.length - 1, Math.max(0, current + step))];
  if (next === undefined) return;
  for (const row of rows) row.classList.toggle('current', row === next);
  next.scrollIntoView({ block: 'nearest' });
  next.querySelector('a')?.focus({ preventScroll: true });
}

/** Changed filters and the slider apply at once, or when a key that moves the slider has come to rest. */
function setUpForms() {
  const inputs = [...document.querySelectorAll('[data-submits]')];
  returnTo(inputs);
  for (const [index, input] of inputs.entries()) {
    let later;
    input.addEventListener('change', () => {
      clearTimeout(later);
      later = setTimeout(() => submitFrom(input, index), input.type === 'range' ? 400 : 0);
    });
    input.addEventListener('input', () => {
      const output = input.form.querySelector(`output[for="${input.id}"]`);
      if (output !== null) output.textContent = `#${input.value}`;
    });
  }
}

/** The page that comes next begins where this one was. */
function submitFrom({ form }, index) {
  sessionStorage.setItem('place', JSON.stringify({ path: location.pathname, index, y: scrollY }));
  form.requestSubmit();
}

function returnTo(inputs) {
  const place = JSON.parse(sessionStorage.getItem('place') ?? 'null');
  sessionStorage.removeItem('place');
  if (place === null || place.path !== location.pathname) return;
  inputs[place.index]?.focus({ preventScroll: true });
  scrollTo(0, place.y);
}

/** Pointing at a sentence lights up its sources, and the other way round. */
function setUpTraces() {
  const root = document.querySelector('[data-trace]');
  if (root === null) return;
  const sentences = [...root.querySelectorAll('[data-sentence]')];
  const light = (target) => {
    for (const lit of root.querySelectorAll('.lit')) lit.classList.remove('lit');
    const sentence = target.closest('[data-sentence]');
    const source = target.closest('[data-source]');
    if (sentence !== null) {
      sentence.classList.add('lit');
      for (const place of sentence.dataset.sources.split(' '))
        root.querySelector(`#source-${place || 'none'}`)?.classList.add('lit');
    } else if (source !== null) {
      const from = sentences.filter((each) => each.dataset.sources.split(' ').includes(source.dataset.source));
      if (from.length > 0) source.classList.add('lit');
      for (const each of from) each.classList.add('lit');
    }
  };
  root.addEventListener('pointerover', (event) => light(event.target));
  root.addEventListener('focusin', (event) => light(event.target));
}

/** Sliders beside the fields of a trial; every change redraws what comes of it. */
function setUpTrials() {
  const form = document.querySelector('[data-trial]');
  if (form === null) return;
  for (const slider of form.querySelectorAll('input[type="range"]')) {
    const field = document.getElementById(slider.dataset.for);
    const follow = () => {
      slider.value = field.value === '' ? slider.min : toSlider(slider, Number(field.value));
    };
    follow();
    slider.hidden = false;
    slider.addEventListener('input', () => {
      const isAuto = field.placeholder !== '' && slider.value === slider.min;
      field.value = isAuto ? '' : fromSlider(slider);
    });
    field.addEventListener('input', follow);
  }
  let isBusy = false;
  let isChanged = false;
  const redraw = async () => {
    isChanged = true;
    if (isBusy) return;
    isBusy = true;
    while (isChanged) {
      isChanged = false;
      await showTrial(form).catch(tellNoAnswer);
    }
    isBusy = false;
  };
  form.addEventListener('input', redraw);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void redraw();
  });
}

function toSlider({ dataset }, value) {
  return dataset.scale === 'tokens' ? Math.log2(value) : value;
}

/** Two significant digits of a number of tokens. */
function fromSlider({ dataset, value }) {
  if (dataset.scale !== 'tokens') return value;
  const tokens = 2 ** Number(value);
  const unit = 10 ** (Math.floor(Math.log10(tokens)) - 1);
  return String(Math.round(tokens / unit) * unit);
}

async function showTrial(form) {
  const query = new URLSearchParams(new FormData(form));
  // If no script draws the chart, request the whole page, which contains the server's drawing.
  const isDrawnHere = document.querySelector('#outcome .drawn') !== null;
  const response = await fetch(`${form.action}${isDrawnHere ? '/outcome' : ''}?${query}`);
  if (response.redirected) return location.reload();
  const fresh = document.createElement('template');
  fresh.innerHTML = await response.text();
  const outcome = fresh.content.getElementById('outcome');
  if (outcome === null) return tellNoAnswer();
  const notes = fresh.content.querySelectorAll('[data-trial] .present');
  for (const [index, note] of form.querySelectorAll('.present').entries())
    note.replaceChildren(...notes[index].childNodes);
  const shown = document.getElementById('outcome');
  shown.replaceChildren(...outcome.childNodes);
  shown.dispatchEvent(new CustomEvent('redrawn', { bubbles: true }));
  history.replaceState(null, '', `${form.action}?${query}`);
}

/** Keeps the outcome of the earlier values. */
function tellNoAnswer() {
  const outcome = document.getElementById('outcome');
  if (outcome.querySelector('[data-no-answer]') !== null) return;
  const note = document.createElement('p');
  note.className = 'trouble';
  note.setAttribute('role', 'alert');
  note.dataset.noAnswer = '';
  note.textContent = 'No answer for these values. The results below are for the previous ones.';
  outcome.prepend(note);
}

/** Copies what a link leads to. */
function setUpCopies() {
  for (const button of document.querySelectorAll('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const response = await fetch(button.dataset.copy);
      if (response.redirected) return location.reload();
      if (!response.ok) return;
      await navigator.clipboard.writeText(await response.text());
      button.textContent = 'Copied';
    });
  }
}

/**
 * A part marked as live follows the bot while the page is visible: browsers allow a server few open connections. The
 * rest of the page stays until the viewer loads it again.
 */
function setUpLive() {
  const waiting = document.querySelector('[data-waiting]');
  if (waiting !== null) follow(waiting.closest('[id]'));
  const part = document.querySelector('[data-live]');
  if (part === null || new URLSearchParams(location.search).has('at')) return;
  part.dataset.last = part.innerHTML;
  let source = null;
  const leave = () => {
    source?.close();
    source = null;
  };
  const look = () => {
    leave();
    if (document.hidden) return;
    source = new EventSource(part.dataset.live);
    source.addEventListener('message', ({ data }) => replaceLive(part, data));
  };
  look();
  document.addEventListener('visibilitychange', look);
  addEventListener('pagehide', leave);
  addEventListener('pageshow', ({ persisted }) => persisted && look());
}

function replaceLive(part, text) {
  const fresh = document.createElement('template');
  fresh.innerHTML = text;
  if (fresh.innerHTML === part.dataset.last) return;
  part.dataset.last = fresh.innerHTML;
  part.replaceChildren(fresh.content);
  showTimes(part);
  offerRefresh(part);
}

/** What a worker of another process does is seen by looking again, until it is done. */
function follow(part, waitMs = 1000) {
  setTimeout(async () => {
    await replacePart(part).catch(() => undefined);
    if (part.querySelector('[data-waiting]') !== null) follow(part, Math.min(waitMs * 1.5, 30_000));
  }, waitMs);
}

/** Loads this page again and takes over one part of it. */
async function replacePart(part) {
  if (document.hidden) return;
  const response = await fetch(location.href);
  if (response.redirected) return location.reload();
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const fresh = page.getElementById(part.id);
  if (fresh === null || fresh.innerHTML === part.dataset.last) return;
  part.dataset.last = fresh.innerHTML;
  part.replaceChildren(...fresh.childNodes);
  showTimes(part);
}

function offerRefresh(part) {
  if (document.getElementById('refresh') !== null) return;
  const link = document.createElement('a');
  link.id = 'refresh';
  link.className = 'notice';
  link.href = location.href;
  link.textContent = 'There is something new. Load the page again.';
  part.after(link);
}
