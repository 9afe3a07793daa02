/** Sent as one with script.js. */

document.addEventListener('DOMContentLoaded', () => setUpCharts(document));
document.addEventListener('redrawn', ({ target }) => setUpCharts(target));

/** The figures of the bar that is pointed at, or chosen with the arrow keys, below its chart. */
function setUpCharts(root) {
  for (const figure of root.querySelectorAll('figure.chart')) {
    const drawing = figure.querySelector('svg');
    const readout = figure.querySelector('[data-readout]');
    const bars = [...figure.querySelectorAll('.hot')].map((bar) => ({
      bar,
      x: bar.x.baseVal.value,
      text: takeTitle(bar),
    }));
    if (readout === null || bars.length === 0) continue;
    const about = `${readout.textContent} Point at it, or choose with the arrow keys, for the figures.`;
    let chosen = -1;
    const show = (index) => {
      bars[chosen]?.bar.classList.remove('lit');
      chosen = index;
      bars[chosen]?.bar.classList.add('lit');
      readout.textContent = bars[chosen]?.text ?? about;
    };
    show(-1);
    scrollToNewest(figure, drawing, bars.at(-1).x);
    readout.setAttribute('aria-live', 'polite');
    drawing.setAttribute('tabindex', '0');
    drawing.addEventListener('keydown', (event) => moveIn(event, { bars, chosen, show }));
    drawing.addEventListener('focus', () => chosen < 0 && show(bars.length - 1));
    drawing.addEventListener('blur', () => show(-1));
    drawing.addEventListener('pointermove', ({ clientX, target }) => {
      const { left, width } = drawing.getBoundingClientRect();
      const at = ((clientX - left) / width) * drawing.viewBox.baseVal.width;
      show(bars.findLastIndex(({ x }) => x <= at));
      // A mark or a layer has figures of its own.
      const own = target.querySelector('title') ?? target.parentElement.querySelector(':scope > title');
      if (own !== null) readout.textContent = own.textContent;
    });
    drawing.addEventListener('pointerleave', () => document.activeElement !== drawing && show(-1));
  }
}

/** Where the chart is wider than the screen, the chosen moment or the newest comes first. */
function scrollToNewest(figure, drawing, newest) {
  const scale = drawing.clientWidth / drawing.viewBox.baseVal.width;
  const cursor = drawing.querySelector('.cursor')?.x1.baseVal.value ?? newest;
  figure.scrollLeft = Math.max(cursor * scale - figure.clientWidth / 2, 0);
}

/** Otherwise the browser shows it a second time. */
function takeTitle(bar) {
  const title = bar.querySelector('title');
  title?.remove();
  return title?.textContent ?? '';
}

function moveIn(event, { bars, chosen, show }) {
  const to = { ArrowLeft: chosen - 1, ArrowRight: chosen + 1, Home: 0, End: bars.length - 1 }[event.key];
  const link = bars[chosen]?.bar.closest('a') ?? null;
  if (event.target === event.currentTarget && event.key === 'Enter' && link !== null)
    location.assign(link.href.baseVal);
  if (to === undefined) return;
  event.preventDefault();
  const next = Math.min(bars.length - 1, Math.max(0, to));
  show(next);
  bars[next].bar.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}
