import { colourOf } from './charts.ts';
import { type Child, element, joinParts, shape, showCount, showTime } from './elements.ts';
import { type Line, layOut, type Row } from './lanes.ts';
import { drawPages, drawTableLater } from './pages.ts';
import { describeSigner, type Shown, type View } from './view.ts';

const PAGE_SIZE = 25;
const LANE_WIDTH = 16;
/** Further lanes are drawn on the last one, so that the text keeps its room. */
const MAX_LANES = 8;
const ROW_HEIGHT = 58;
const NODE_Y = 22;
const MAX_LISTED = 8;

/** The sessions, the newest first, with lines from each to those whose work it continues. */
export function drawWork(view: View): HTMLElement[] {
  const { sessions, report } = view;
  const rows = layOut(sessions, (place) => report.sessions[place]?.follows ?? []);
  const lanes = Math.min(MAX_LANES, Math.max(...rows.map(countLanes), 1));
  const items = sessions.map((session, at) => ({ session, row: rows[at] }));
  const list = drawPages(items, {
    size: PAGE_SIZE,
    noun: 'session',
    draw: (shown) =>
      element('ol', { class: 'work' }, ...shown.map(({ session, row }) => drawSession(session, row, { view, lanes }))),
  });
  const nameAll = (places: readonly number[]): string =>
    places.map((place) => report.sessions[place]?.handover ?? '').join(', ') || '–';
  const table = drawTableLater('Sessions and what they continue', sessions, [
    { title: 'When', show: ({ at }) => showTime(at) },
    { title: 'Agent', show: (session) => [session.agent, describeSigner(session)].filter(Boolean).join(', ') },
    { title: 'Work', show: ({ goal }) => goal },
    { title: 'Handover', show: ({ handover }) => element('code', {}, handover) },
    { title: 'Continues', show: ({ follows }) => element('code', {}, nameAll(follows)) },
    { title: 'Takes in', show: ({ joins }) => element('code', {}, nameAll(joins)) },
  ]);
  return [list, table];
}

function countLanes({ lane, above, below }: Row): number {
  return 1 + Math.max(lane, ...[...above, ...below].map(({ from, to }) => Math.max(from, to)));
}

function drawSession(
  session: Shown,
  row: Row | undefined,
  { view, lanes }: { view: View; lanes: number },
): HTMLElement {
  const { goal, agent, project, at, decisions, changed, failed } = session;
  const about = joinParts(
    agent,
    describeSigner(session),
    view.report.projects.length > 1 ? (view.report.projects[project] ?? '') : null,
    showTime(at),
    decisions.length > 0 ? showCount(decisions.length, 'decision') : null,
    changed.length > 0 ? `${showCount(changed.length, 'file')} changed` : null,
    failed.length > 0 ? element('span', { class: 'failed' }, `${showCount(failed.length, 'check')} failed`) : null,
  );
  const details = element('details', {}, element('summary', {}, element('span', { class: 'goal' }, goal), about));
  details.addEventListener('toggle', () => details.append(describeSession(session, view)), { once: true });
  const item = element('li', {}, ...(row === undefined ? [] : [drawLines(row, colourOf(agent, view), lanes)]), details);
  item.style.paddingInlineStart = `${(lanes + 1) * LANE_WIDTH}px`;
  return item;
}

/** Below the height of a closed row, lines go straight on for as far as the row reaches. */
function drawLines({ lane, above, below }: Row, colour: string, lanes: number): SVGElement {
  const x = (at: number): number => (Math.min(at, MAX_LANES - 1) + 0.5) * LANE_WIDTH;
  const bend = ({ from, to, isJoined }: Line, [top, bottom]: readonly [number, number]): SVGElement => {
    const middle = (top + bottom) / 2;
    const d = `M${x(from)} ${top}C${x(from)} ${middle} ${x(to)} ${middle} ${x(to)} ${bottom}`;
    return shape('path', { d, class: isJoined ? 'joined' : '' });
  };
  const drawn = [
    ...above.map((line) => bend(line, [0, NODE_Y])),
    ...below.map((line) => bend(line, [NODE_Y, ROW_HEIGHT])),
    ...below.map(({ to, isJoined }) =>
      shape('line', { x1: x(to), x2: x(to), y1: ROW_HEIGHT, y2: '100%', class: isJoined ? 'joined' : '' }),
    ),
  ];
  const node = shape('circle', { cx: x(lane), cy: NODE_Y, r: 5 });
  node.style.fill = colour;
  return shape('svg', { width: lanes * LANE_WIDTH, 'aria-hidden': 'true' }, ...drawn, node);
}

function describeSession(session: Shown, { report }: View): HTMLElement {
  const { requests, commits, decisions, passed, failed, changed, handover, handovers } = session;
  const lists: [title: string, texts: readonly Child[]][] = [
    ['Asked', requests],
    ['Settled', decisions.map(({ kind, text }) => (kind === 'rejected' ? `Rejected: ${text}` : text))],
    ['Checks', [...failed.map((text) => `${text}: failed`), ...passed.map((text) => `${text}: passed`)]],
    ['Commits', commits],
    ['Changed', changed.map((at) => element('code', {}, report.files[at]?.path ?? ''))],
  ];
  const shown = lists.flatMap(([title, texts]) => {
    if (texts.length === 0) return [];
    const more = texts.length - MAX_LISTED;
    const items = texts.slice(0, MAX_LISTED).map((text) => element('li', {}, text));
    const rest = more > 0 ? [element('li', { class: 'none' }, `and ${showCount(more)} more`)] : [];
    return [element('dt', {}, title), element('dd', {}, element('ul', {}, ...items, ...rest))];
  });
  const count = handovers === 1 ? '' : ` (the newest of ${showCount(handovers)})`;
  const all = element('dd', {}, element('code', {}, `handover show ${handover}`), count);
  return element('dl', { class: 'session' }, ...shown, element('dt', {}, 'All of it'), all);
}
