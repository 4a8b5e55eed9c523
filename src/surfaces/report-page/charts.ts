import { axisX, dot, gridX, type PlotOptions, plot, rectY, ruleY } from '@observablehq/plot';
import { element, showCount, showDay } from './elements.ts';
import { drawNothing, drawTableLater } from './pages.ts';
import type { View } from './view.ts';

const ROW_HEIGHT = 30;
const TICK_WIDTH = 110;
const [LEAST_RADIUS, USUAL_RADIUS, MOST_RADIUS] = [2.5, 4.5, 13];
const BAR_CHART_HEIGHT = 210;

/** Column of time: one day, week or month. */
interface Span {
  from: Date;
  to: Date;
}

/** Both charts of time have the same axis, so that they can be compared. */
function describeTime({ sessions, report }: View, periods: Periods): NonNullable<PlotOptions['x']> {
  const first = sessions.at(-1)?.at ?? report.generated_at;
  const last = sessions[0]?.at ?? report.generated_at;
  return { type: 'utc', domain: [periods.startOf(first), periods.endOf(periods.startOf(last))], label: null };
}

function spanOf(at: string, periods: Periods): Span {
  const start = periods.startOf(at);
  return { from: new Date(start), to: new Date(periods.endOf(start)) };
}

function showSpan({ from }: Span, { name }: Periods): string {
  return name === 'day' ? showDay(from) : `${name === 'week' ? 'Week' : 'Month'} of ${showDay(from)}`;
}

function countTicks(width: number): number {
  return Math.max(2, Math.floor(width / TICK_WIDTH));
}

const SHARED: PlotOptions = { className: 'chart', marginTop: 8, marginRight: 14, marginBottom: 34 };

/** An image to a screen reader, with a table of the same beside it. */
function frame(label: string, options: PlotOptions, width: number): HTMLElement {
  const drawn = plot({ ...SHARED, ...options, width });
  // The parts of an image have no names of their own.
  for (const part of drawn.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
  drawn.setAttribute('role', 'img');
  drawn.setAttribute('aria-label', label);
  return element('figure', {}, drawn);
}

/** A point for the sessions of an agent in each period; the more, the larger. */
export function drawTimeline(view: View, width: number): HTMLElement[] {
  const periods = choosePeriods(view.sessions.map(({ at }) => at));
  const points = new Map<string, Span & { agent: string; count: number }>();
  for (const { agent, at } of view.sessions) {
    const key = `${periods.startOf(at)} ${agent}`;
    const point = points.get(key) ?? { ...spanOf(at, periods), agent, count: 0 };
    point.count++;
    points.set(key, point);
  }
  const rows = [...points.values()];
  if (rows.length === 0) return [drawNothing()];
  const agents = view.agents.filter((agent) => rows.some((row) => row.agent === agent));
  // Areas are as the numbers, as long as the smallest can be seen and the largest stays in its row.
  const unit = Math.min(USUAL_RADIUS, MOST_RADIUS / Math.sqrt(Math.max(...rows.map(({ count }) => count), 1)));
  const chart = frame(
    `${showCount(view.sessions.length, 'session')} of ${showCount(agents.length, 'agent')} by ${periods.name}`,
    {
      height: agents.length * ROW_HEIGHT + 42,
      marginLeft: 110,
      x: describeTime(view, periods),
      y: { type: 'point', domain: agents, label: null, padding: 0.6, tickSize: 0, tickFormat: cutName },
      r: { type: 'identity' },
      color: { type: 'identity' },
      marks: [
        gridX({ strokeOpacity: 1, stroke: 'var(--line)', ticks: countTicks(width) }),
        dot(rows, {
          x: ({ from, to }) => (from.getTime() + to.getTime()) / 2,
          y: 'agent',
          r: ({ count }) => Math.max(LEAST_RADIUS, unit * Math.sqrt(count)),
          fill: ({ agent }) => colourOf(agent, view),
          stroke: 'var(--surface)',
          title: (row) => `${row.agent}, ${showSpan(row, periods)}: ${showCount(row.count, 'session')}`,
        }),
        axisX({ tickSize: 0, ticks: countTicks(width) }),
      ],
    },
    width,
  );
  const table = drawTableLater('Sessions by time and agent', rows, [
    { title: 'When', show: (row) => showSpan(row, periods) },
    { title: 'Agent', show: ({ agent }) => agent },
    { title: 'Sessions', isNumber: true, show: ({ count }) => showCount(count) },
  ]);
  return [chart, table];
}

/** Passed checks above the line, failed ones below it: distinguishable without colours. */
export function drawChecks(view: View, width: number): HTMLElement[] {
  const periods = choosePeriods(view.sessions.map(({ at }) => at));
  const columns = new Map<number, Span & { passed: number; failed: number }>();
  for (const { at, passed, failed } of view.sessions) {
    if (passed.length + failed.length === 0) continue;
    const start = periods.startOf(at);
    const column = columns.get(start) ?? { ...spanOf(at, periods), passed: 0, failed: 0 };
    column.passed += passed.length;
    column.failed += failed.length;
    columns.set(start, column);
  }
  const rows = [...columns.values()];
  if (rows.length === 0) return [drawNothing()];
  const sum = (of: 'passed' | 'failed'): string => showCount(rows.reduce((total, row) => total + row[of], 0));
  const drawBars = (of: 'passed' | 'failed', sign: 1 | -1) =>
    rectY(rows, {
      ...{ x1: 'from', x2: 'to', fill: `var(--${of})`, inset: 0.5, rx: 1.5 },
      y: (row) => sign * row[of],
      title: (row) => `${showSpan(row, periods)}: ${showCount(row[of])} ${of}`,
    });
  const key = element(
    'p',
    { class: 'key' },
    element('span', { class: 'passed' }, `${sum('passed')} passed`),
    element('span', { class: 'failed' }, `${sum('failed')} failed`),
  );
  const chart = frame(
    `Checks by ${periods.name}: ${sum('passed')} passed, ${sum('failed')} failed`,
    {
      height: BAR_CHART_HEIGHT,
      marginLeft: 40,
      x: describeTime(view, periods),
      y: {
        ...{ label: null, ticks: 5, nice: true, grid: true, tickSize: 0 },
        tickFormat: (count: number) => (Number.isInteger(count) ? showCount(Math.abs(count)) : ''),
      },
      marks: [
        drawBars('passed', 1),
        drawBars('failed', -1),
        ruleY([0], { stroke: 'var(--muted)' }),
        axisX({ tickSize: 0, ticks: countTicks(width) }),
      ],
    },
    width,
  );
  const table = drawTableLater('Checks by time', rows, [
    { title: 'When', show: (row) => showSpan(row, periods) },
    { title: 'Passed', isNumber: true, show: ({ passed }) => showCount(passed) },
    { title: 'Failed', isNumber: true, show: ({ failed }) => showCount(failed) },
  ]);
  return [key, chart, table];
}

const MAX_NAME = 14;

function cutName(agent: string): string {
  return agent.length <= MAX_NAME ? agent : `${agent.slice(0, MAX_NAME - 1)}…`;
}

const COLOURS = 8;

export function colourOf(agent: string, { agents }: Pick<View, 'agents'>): string {
  return `var(--agent-${agents.indexOf(agent) % COLOURS})`;
}

/** Days, weeks or months of UTC, by how much time there is to show. */
interface Periods {
  name: 'day' | 'week' | 'month';
  startOf(at: string): number;
  endOf(start: number): number;
}

const DAY_MS = 86_400_000;
/** More columns than this would be too narrow. */
const MAX_DAYS = 120;
const MAX_WEEKS = 120;

function choosePeriods(times: readonly string[]): Periods {
  const days = times.length === 0 ? 0 : (Date.parse(times[0] ?? '') - Date.parse(times.at(-1) ?? '')) / DAY_MS;
  if (Math.abs(days) <= MAX_DAYS) return { name: 'day', startOf: dayOf, endOf: (start) => start + DAY_MS };
  if (Math.abs(days) <= MAX_WEEKS * 7) return { name: 'week', startOf: weekOf, endOf: (start) => start + 7 * DAY_MS };
  return { name: 'month', startOf: monthOf, endOf: endOfMonth };
}

function dayOf(at: string): number {
  return Math.floor(Date.parse(at) / DAY_MS) * DAY_MS;
}

/** Weeks begin on Monday; 1970 began on a Thursday. */
function weekOf(at: string): number {
  const day = dayOf(at);
  return day - ((day / DAY_MS + 3) % 7) * DAY_MS;
}

function monthOf(at: string): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

function endOfMonth(start: number): number {
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
