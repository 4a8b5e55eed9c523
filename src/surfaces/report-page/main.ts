import type { Report } from '../../app/ask/report.ts';
import { NO_AGENT } from '../../model/fact-roles.ts';
import { drawChecks, drawTimeline } from './charts.ts';
import { element, findElement, showCount, showDay } from './elements.ts';
import { drawWork } from './line-of-work.ts';
import { drawDebt, drawDecisions, drawFiles, drawOpen } from './lists.ts';
import { openReport, type Selection, type View } from './view.ts';

interface Section {
  id: string;
  title: string;
  note: string;
  /** Whether the report has anything for it. */
  isIn(report: Report): boolean;
  /** Whether it has a chart, which is as wide as the page. */
  hasChart?: true;
  draw(view: View, width: number): HTMLElement[];
}

const SECTIONS: readonly Section[] = [
  {
    ...{ id: 'open', title: 'Open now', note: 'What the newest handover of each folder has left.' },
    isIn: ({ open }) => open.length > 0,
    draw: drawOpen,
  },
  {
    ...{
      id: 'timeline',
      title: 'Sessions',
      note: 'One row for each agent; the larger a point, the more sessions.',
    },
    isIn: () => true,
    hasChart: true,
    draw: drawTimeline,
  },
  {
    ...{
      id: 'work',
      title: 'Line of work',
      note: 'The newest first. A line leads to the session that was continued, a dotted one to work that was taken in.',
    },
    isIn: () => true,
    draw: drawWork,
  },
  {
    ...{ id: 'decisions', title: 'Decisions and rejected ideas', note: 'What was settled, and where it was seen.' },
    isIn: ({ sessions }) => sessions.some(({ decisions }) => decisions.length > 0),
    draw: drawDecisions,
  },
  {
    ...{ id: 'checks', title: 'Checks', note: 'Tests, builds and the like, as they stood at the end of each session.' },
    isIn: ({ sessions }) => sessions.some(({ passed, failed }) => passed.length + failed.length > 0),
    hasChart: true,
    draw: drawChecks,
  },
  {
    ...{ id: 'files', title: 'Files', note: 'By how many sessions worked on them.' },
    isIn: ({ files }) => files.length > 0,
    draw: drawFiles,
  },
  {
    ...{
      id: 'debt',
      title: 'Found out again',
      note: 'What sessions that follow others had to find out again, with a brief and without. Of the newest 50, whatever is filtered.',
    },
    isIn: ({ debt }) => debt !== undefined,
    draw: drawDebt,
  },
];

const TYPING_MS = 150;

function start(report: Report): void {
  const select = openReport(report);
  const main = findElement('report', HTMLElement);
  const numbers = element('dl', { class: 'numbers' });
  const places = SECTIONS.filter(({ isIn }) => isIn(report)).map((section) => {
    const heading = element('h2', { id: `${section.id}-title` }, section.title);
    const content = element('div');
    const about = { id: section.id, 'aria-labelledby': heading.id };
    return {
      section,
      content,
      shown: element('section', about, heading, element('p', { class: 'note' }, section.note), content),
    };
  });
  main.replaceChildren(numbers, ...places.map(({ shown }) => shown));
  findElement('sections', HTMLElement).append(
    ...places.map(({ section: { id, title } }) => element('li', {}, element('a', { href: `#${id}` }, title))),
  );
  const drawSections = (view: View, parts: typeof places): void => {
    // Read once: each read would force a new layout of the page.
    const width = main.clientWidth;
    for (const { section, content } of parts) content.replaceChildren(...section.draw(view, width));
  };
  const draw = (): void => {
    const view = select(readSelection());
    numbers.replaceChildren(...drawNumbers(view));
    drawSections(view, places);
    const [all, shown] = [report.sessions.length, view.sessions.length];
    findElement('count', HTMLElement).textContent =
      shown === all ? showCount(all, 'session') : `${showCount(shown)} of ${showCount(all, 'session')}`;
  };
  describeReport(report);
  fillFilter(report);
  listenToFilter(draw);
  listenToTheme();
  draw();
  const charts = places.filter(({ section }) => section.hasChart);
  redrawOnResize(main, () => drawSections(select(readSelection()), charts));
}

function describeReport({ sessions, projects, generated_at: generatedAt }: Report): void {
  const first = sessions.at(-1)?.at ?? generatedAt;
  const of = projects.length === 1 ? projects.join() : showCount(projects.length, 'project');
  const text = `${of}, ${showDay(first)} to ${showDay(sessions[0]?.at ?? generatedAt)}. Written on ${showDay(generatedAt)}.`;
  findElement('about', HTMLElement).textContent = text;
  if (projects.length === 1) document.title = `${projects.join()}: handover report`;
}

function drawNumbers({ sessions, open }: View): HTMLElement[] {
  const sum = (count: (session: View['sessions'][number]) => number): string =>
    showCount(sessions.reduce((total, session) => total + count(session), 0));
  const agents = new Set(sessions.map(({ agent }) => agent).filter((agent) => agent !== NO_AGENT)).size;
  const all: [title: string, value: string][] = [
    ['Sessions', showCount(sessions.length)],
    ['Agents', showCount(agents)],
    ['Decisions', sum(({ decisions }) => decisions.length)],
    ['Checks passed', sum(({ passed }) => passed.length)],
    ['Checks failed', sum(({ failed }) => failed.length)],
    ['Open now', showCount(open.length)],
  ];
  return all.map(([title, value]) => element('div', {}, element('dt', {}, title), element('dd', {}, value)));
}

function fillFilter({ sessions, projects }: Report): void {
  const agents = [...new Set(sessions.map(({ agent }) => agent))].sort();
  findElement('agent', HTMLSelectElement).append(...agents.map((agent) => element('option', { value: agent }, agent)));
  const choice = findElement('project', HTMLSelectElement);
  choice.append(...projects.map((name, at) => element('option', { value: at }, name)));
  choice.closest('label')?.toggleAttribute('hidden', projects.length < 2);
}

function readSelection(): Selection {
  const read = (id: string): string => findElement(id, HTMLSelectElement).value;
  const toNumber = (value: string): number | null => (value === '' ? null : Number(value));
  const words = findElement('words', HTMLInputElement).value.toLowerCase().split(/\s+/);
  return {
    words: words.filter((word) => word !== ''),
    agent: read('agent'),
    project: toNumber(read('project')),
    days: toNumber(read('days')),
  };
}

function listenToFilter(draw: () => void): void {
  const form = findElement('filter', HTMLFormElement);
  let typing = 0;
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', ({ target }) => {
    clearTimeout(typing);
    typing = window.setTimeout(draw, target instanceof HTMLInputElement ? TYPING_MS : 0);
  });
  form.addEventListener('reset', () => window.setTimeout(draw));
}

function listenToTheme(): void {
  const button = findElement('theme', HTMLButtonElement);
  const show = (isDark: boolean): void => {
    button.setAttribute('aria-pressed', String(isDark));
  };
  show(matchMedia('(prefers-color-scheme: dark)').matches);
  button.addEventListener('click', () => {
    const isDark = button.getAttribute('aria-pressed') !== 'true';
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
    show(isDark);
  });
}

/** Only the width counts: drawing changes the height. */
function redrawOnResize(main: HTMLElement, draw: () => void): void {
  let [width, waiting] = [main.clientWidth, 0];
  new ResizeObserver(() => {
    if (main.clientWidth === width) return;
    width = main.clientWidth;
    clearTimeout(waiting);
    waiting = window.setTimeout(draw, TYPING_MS);
  }).observe(main);
}

const data: Report = JSON.parse(findElement('data', HTMLElement).textContent ?? '');
start(data);
