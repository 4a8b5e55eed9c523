import type { Decision, OpenItem } from '../../app/ask/report.ts';
import type { Median, Side } from '../../app/debt/statistics.ts';
import { drawTable, element, joinParts, showCount, showDay, showTime } from './elements.ts';
import { drawNothing, drawPages } from './pages.ts';
import { describeSigner, type Shown, type View } from './view.ts';

const SMALL_PAGE = 8;
const FILES_PAGE = 15;

type OpenGroup = { title: string; kinds: readonly OpenItem['kind'][]; class: string };

const OPEN: readonly OpenGroup[] = [
  { title: 'Next steps', kinds: ['next'], class: 'next' },
  { title: 'Open tasks', kinds: ['task'], class: 'task' },
  { title: 'Waiting for an answer', kinds: ['question', 'blocker'], class: 'waiting' },
  { title: 'Open errors', kinds: ['error'], class: 'error' },
];

/** What the newest handover of each worktree has left. */
export function drawOpen(view: View): HTMLElement[] {
  const groups = OPEN.flatMap(({ title, kinds, class: name }) => {
    const items = view.open.filter(({ kind }) => kinds.includes(kind));
    return items.length === 0
      ? []
      : [
          drawGroup(
            title,
            name,
            drawPages(items, {
              size: SMALL_PAGE,
              noun: 'item',
              draw: (shown) => element('ul', { class: 'items' }, ...shown.map((item) => drawOpenItem(item, view))),
            }),
            items.length,
          ),
        ];
  });
  if (groups.length === 0) return [drawNothing()];
  return [element('div', { class: 'columns' }, ...groups)];
}

function drawGroup(title: string, name: string, content: HTMLElement, count: number): HTMLElement {
  const heading = element('h3', {}, title, ' ', element('span', { class: 'badge' }, showCount(count)));
  return element('div', { class: `card ${name}` }, heading, content);
}

function drawOpenItem({ text, status, session, id, handover }: OpenItem, { report }: View): HTMLElement {
  const from = report.sessions[session];
  const about = joinParts(
    status === null || status === 'open' || status === 'pending' ? null : status.replaceAll('_', ' '),
    from === undefined || report.projects.length === 1 ? null : (report.projects[from.project] ?? ''),
    from?.agent ?? null,
    from === undefined ? null : showDay(from.at),
  );
  return element('li', {}, element('p', {}, text), about, drawSource(handover, id));
}

/** What shows the lines that a fact came from. */
function drawSource(handover: string, id: string, ...about: readonly string[]): HTMLElement {
  const lines = about.map((text) => element('p', {}, text));
  const shown = element('code', {}, `handover show ${handover} --events ${id}`);
  return element('details', { class: 'source' }, element('summary', {}, 'source'), ...lines, shown);
}

type SessionDecision = { decision: Decision; session: Shown };

export function drawDecisions(view: View): HTMLElement[] {
  const all = view.sessions.flatMap((session) =>
    session.decisions
      .filter(({ text, because }) => view.accepts(session, `${text} ${because ?? ''}`))
      .map((decision): SessionDecision => ({ decision, session })),
  );
  const drawKind = (title: string, kind: Decision['kind']): HTMLElement => {
    const items = all.filter(({ decision }) => decision.kind === kind);
    const pages = drawPages(items, {
      size: SMALL_PAGE,
      noun: 'item',
      draw: (shown) => element('ul', { class: 'items' }, ...shown.map((item) => drawDecision(item, view))),
    });
    return drawGroup(title, kind, pages, items.length);
  };
  return [element('div', { class: 'columns' }, drawKind('Decided', 'decision'), drawKind('Rejected', 'rejected'))];
}

const ORIGINS: Readonly<Record<string, string>> = {
  human: 'said by a person',
  agent: 'said by the agent',
  tool: 'seen in a result',
  git: 'from git',
  import: 'imported',
};

function drawDecision({ decision, session }: SessionDecision, { report }: View): HTMLElement {
  const { text, origin, trust, line, handover, id, mark, because } = decision;
  const about = joinParts(
    ORIGINS[origin] ?? origin,
    report.projects.length > 1 ? (report.projects[session.project] ?? '') : null,
    session.agent,
    describeSigner(session),
    showTime(session.at),
  );
  const later = mark === null ? [] : [element('p', { class: 'mark' }, because === null ? mark : `${mark}: ${because}`)];
  const place = line > 0 ? `${trust}, line ${line} of the transcript` : trust;
  return element('li', {}, element('p', {}, text), ...later, about, drawSource(handover, id, place));
}

interface FileRow {
  path: string;
  project: number;
  changed: number;
  read: number;
  agents: Set<string>;
  last: string;
}

export function drawFiles(view: View): HTMLElement[] {
  const rows = countFiles(view);
  const most = Math.max(...rows.map(({ changed }) => changed), 1);
  const isOfMany = view.report.projects.length > 1;
  const pages = drawPages(rows, {
    size: FILES_PAGE,
    noun: 'file',
    draw: (shown) =>
      drawTable<FileRow>(
        'Files by how many sessions changed them',
        [
          { title: 'File', show: ({ path }) => drawPath(path) },
          ...(isOfMany
            ? [{ title: 'Project', show: ({ project }: FileRow) => view.report.projects[project] ?? '' }]
            : []),
          { title: 'Changed in', show: ({ changed }) => drawBar(changed, most) },
          { title: 'Read in', isNumber: true, show: ({ read }) => showCount(read) },
          { title: 'By', show: ({ agents }) => [...agents].sort().join(', ') },
          { title: 'Last', show: ({ last }) => showDay(last) },
        ],
        shown,
      ),
  });
  return [pages];
}

function countFiles({ sessions, report, accepts }: View): FileRow[] {
  const rows = new Map<number, FileRow>();
  for (const session of sessions)
    for (const touch of ['changed', 'read'] as const)
      for (const at of session[touch]) {
        const file = report.files[at];
        if (file === undefined || !accepts(session, file.path)) continue;
        const row = rows.get(at) ?? { ...file, changed: 0, read: 0, agents: new Set(), last: session.at };
        row[touch]++;
        row.agents.add(session.agent);
        rows.set(at, row);
      }
  return [...rows.values()].sort((a, b) => b.changed - a.changed || b.read - a.read || (a.path < b.path ? -1 : 1));
}

/** A path may break after each folder. */
function drawPath(path: string): HTMLElement {
  const parts = path.split(/(?<=\/)/);
  return element('code', {}, ...parts.flatMap((part) => [part, element('wbr')]));
}

function drawBar(count: number, most: number): HTMLElement {
  const bar = element('span', { class: 'bar', 'aria-hidden': 'true' });
  bar.style.inlineSize = `${(count / most) * 100}%`;
  return element(
    'div',
    { class: 'measure' },
    element('span', { class: 'number' }, showCount(count)),
    element('span', { class: 'room' }, bar),
  );
}

/** A median with its interval. */
function showMedian(value: Median | null): string {
  if (value === null) return '–';
  const show = (number: number): string => showCount(Math.round(number * 10) / 10);
  const interval = value.low === null || value.high === null ? '' : ` (${show(value.low)} to ${show(value.high)})`;
  return `${show(value.median)}${interval}`;
}

export function drawDebt({ report: { debt } }: View): HTMLElement[] {
  if (debt === undefined) return [];
  const rows: [title: string, show: (side: Side) => string][] = [
    ['How many', ({ successors }) => showCount(successors)],
    ['That found something out again', ({ with_debt }) => showCount(with_debt)],
    ['How much', ({ found_again }) => showMedian(found_again)],
    ['Calls before the first edit', ({ calls }) => showMedian(calls)],
    ['Minutes before the first edit', ({ minutes }) => showMedian(minutes)],
    ['Tokens before the first edit', ({ tokens }) => showMedian(tokens)],
  ];
  const table = drawTable(
    'Medians, with the interval that holds them in 95 of 100 cases',
    [
      { title: 'Sessions that follow others', show: ([title]) => title },
      { title: 'With a brief', show: ([, show]) => show(debt.brief), isNumber: true },
      { title: 'With a hint or nothing', show: ([, show]) => show(debt.other), isNumber: true },
    ],
    rows,
  );
  const few = debt.brief.enough && debt.other.enough ? [] : [element('p', { class: 'note' }, 'Too few to tell.')];
  return [table, ...few];
}
