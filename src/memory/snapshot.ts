import { join, resolve } from 'node:path';
import type { Fact, FactKind } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { sha256Hex } from '../model/hash.ts';
import { cleanLine, cutAtWord, revealControls } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import type { ChangedFile, GitFacts } from '../model/workspace.ts';
import { requireFolder } from '../platform/folders.ts';
import { describePlace, type Place } from '../platform/place.ts';
import { detectProjectTypes } from '../platform/project-type.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import type { Redactor } from '../redact/redactor.ts';
import { findNewestHandover } from '../store/newest.ts';
import type { Store } from '../store/store.ts';
import { readDocument, replaceDocument, type Workspace, withDocumentLock } from './documents.ts';
import { readFrontMatter } from './note-file.ts';

/** What a handover tells, in the words of a note: each a heading and its points. */
export interface PointList {
  heading: string;
  points: string[];
}

const MAX_POINTS = 12;
const MAX_POINT_BYTES = 400;

const LISTS: readonly (readonly [heading: string, belongs: (fact: Fact) => boolean])[] = [
  ['Goal', isKind('goal')],
  ['Decisions', isKind('decision')],
  ['Constraints', isKind('constraint')],
  ['Rejected', isKind('rejected')],
  ['What’s Next', (fact) => fact.kind === 'next' || isOpenTask(fact)],
  ['Blockers', (fact) => fact.kind === 'blocker' || (fact.kind === 'error' && fact.status === 'open')],
  ['Open Questions', isKind('question')],
];

function isKind(kind: FactKind): (fact: Fact) => boolean {
  return (fact) => fact.kind === kind;
}

function isOpenTask({ kind, status }: Fact): boolean {
  return kind === 'task' && status !== 'completed' && status !== 'cancelled';
}

/** The points of each list, the pinned ones first; at most a dozen, and then how many more there are. */
export function listPoints({ facts }: Handover): PointList[] {
  return LISTS.map(([heading, belongs]) => {
    const own = facts.filter(belongs);
    const sorted = [...own.filter(({ pinned }) => pinned), ...own.filter(({ pinned }) => !pinned)];
    const points = sorted.slice(0, MAX_POINTS).map(({ text }) => quote(text));
    return {
      heading,
      points: own.length > MAX_POINTS ? [...points, `and ${own.length - MAX_POINTS} more`] : points,
    };
  });
}

/** Text of others on one line of Markdown: it can neither begin a heading nor hide what follows it. */
export function quote(text: string): string {
  return cutAtWord(cleanLine(text), MAX_POINT_BYTES).replaceAll('<!--', '&lt;!--');
}

/** A handover as a note of layer 1. */
export function printNote(handover: Handover): string {
  const { title, summary, id, session } = handover;
  const lists = listPoints(handover)
    .filter(({ points }) => points.length > 0)
    .flatMap(({ heading, points }) => ['', `## ${heading}`, ...points.map((point) => `- ${point}`)]);
  const said = summary.trim() === '' ? [] : ['', quote(summary)];
  return [`# ${quote(title)}`, '', `Handover ${id}, from ${quote(session.agent)}.`, ...said, ...lists].join(
    '\n',
  );
}

/** What HANDOFF.md is made of. */
export interface SnapshotSource extends SnapshotLabels {
  place: Place;
  /** The newest of this project. */
  handover: Handover | null;
  at: number;
  redactor: Redactor;
}

export interface SnapshotLabels {
  /** What kind of session it was, such as build. */
  mode: string;
  /** Of the agent. */
  name?: string;
  /** In milliseconds; now, if left out. */
  at?: number;
}

export interface Snapshot {
  path: string;
  text: string;
  /** False when nothing is new but the time and what waits to be pushed, and the file was left as it was. */
  isNew: boolean;
  /** Where the HANDOFF.md before it is kept. */
  kept: string | null;
}

/** Writes HANDOFF.md from all that is known. The one before it is kept in the store first; front matter stays. */
export function writeSnapshot(store: Store, workspace: Workspace, source: SnapshotSource): Snapshot {
  const path = join(workspace.folder, 'HANDOFF.md');
  return withDocumentLock(store, workspace, () => {
    const before = readDocument(workspace, 'HANDOFF.md')?.toString('utf8') ?? null;
    const soul = readDocument(workspace, 'SOUL.md')?.toString('utf8') ?? null;
    const hasMemory = readDocument(workspace, 'MEMORY.md') !== null;
    const body = printSnapshot(source, { soul, hasMemory });
    const text = `${readFrontMatter(before ?? '')}${body}`;
    if (before !== null && withoutVolatile(before) === withoutVolatile(text))
      return { path, text: before, isNew: false, kept: null };
    const kept = replaceDocument(store, workspace, { title: 'HANDOFF.md', text });
    return { path, text, isNew: true, kept };
  });
}

const FOOTER = /^<!-- agent-handover \| handoff \| (\S+) \| (\S+) \| sha256:([0-9a-f]{64}) -->\n?$/m;
const WHEN = /^- \*\*When\*\*: .*$/m;
const AGAINST = /^(- \*\*Branch\*\*: .*), \d+ ahead, \d+ behind$/m;

/** Without the time, and without how many commits wait to be pushed: a commit of this very file may be one of them. */
function withoutVolatile(text: string): string {
  return text.replace(FOOTER, '').replace(WHEN, '').replace(AGAINST, '$1');
}

/** What a HANDOFF.md says of itself; null for one that no snapshot wrote. */
export function readSnapshotMark(
  text: string,
): { at: string; handover: string | null; intact: boolean } | null {
  const match = FOOTER.exec(text);
  if (match === null) return null;
  const [, at = '', handover = '', checksum] = match;
  const body = text.slice(readFrontMatter(text).length, match.index);
  return { at, handover: handover === 'none' ? null : handover, intact: sha256Hex(body) === checksum };
}

const MAX_FILES = 40;

function printSnapshot(
  { place, handover, mode, name, at, redactor }: SnapshotSource,
  { soul, hasMemory }: { soul: string | null; hasMemory: boolean },
): string {
  const { git } = place.workspace;
  const time = formatTimestamp(at);
  const lists = handover === null ? [] : listPoints(handover);
  const lines = [
    '# HANDOFF.md',
    '',
    '## Last Session',
    `- **When**: ${time}`,
    `- **Mode**: ${quote(mode)}`,
    ...(name === undefined ? [] : [`- **Name**: ${quote(name)}`]),
    `- **Directory**: ${revealControls(place.workspace.root)}`,
    `- **Project type**: ${detectProjectTypes(place.root).join(', ') || 'unknown'}`,
    ...(git === null ? ['- **Git**: none'] : printHead(git)),
    handover === null
      ? '- **Handover**: none'
      : `- **Handover**: ${handover.id}, from ${quote(handover.session.agent)}, ${handover.created_at}`,
    '',
    '## What Happened',
    ...printHappened(handover),
    ...lists.flatMap(({ heading, points }) => printList(heading, points)),
    ...(git === null ? [] : printGit(git)),
    ...printList('Identity (from SOUL.md)', soul === null ? [] : findIdentity(soul)),
    ...printList('Knowledge (from MEMORY.md)', hasMemory ? ['See MEMORY.md'] : []),
    '',
    '',
  ];
  const body = redactor.redactText(lines.join('\n'));
  return `${body}<!-- agent-handover | handoff | ${time} | ${handover?.id ?? 'none'} | sha256:${sha256Hex(body)} -->\n`;
}

function printHappened(handover: Handover | null): string[] {
  if (handover === null) return ['- (no handover of this project is kept; `handover capture` makes one)'];
  const [title, summary] = [quote(handover.title), quote(handover.summary.trim())];
  return summary === '' || summary === title ? [`- ${title}`] : [`- ${title}`, `- ${summary}`];
}

/** The head is the last commit that is told: those of memory are not. */
function printHead({ branch, commits: [head], ahead, behind, operation }: GitFacts): string[] {
  const against = ahead === null || behind === null ? '' : `, ${ahead} ahead, ${behind} behind`;
  return [
    `- **Branch**: ${revealControls(branch ?? '(detached)')}${against}`,
    ...(head === undefined ? [] : [`- **Head**: ${head.hash.slice(0, 12)}`]),
    ...(operation === null ? [] : [`- **In the middle of**: ${operation}`]),
  ];
}

/** What git says now, as a snapshot would tell it. */
export function printWorkingTree(git: GitFacts): string[] {
  return [...printHead(git), ...printGit(git)];
}

function printGit(git: GitFacts): string[] {
  const changed = [
    ...git.conflicted.map((path) => `conflict ${showPath(path)}`),
    ...git.staged.map((file) => `staged ${describeChange(file)}`),
    ...git.unstaged.map(describeChange),
    ...git.untracked.map((path) => `untracked ${showPath(path)}`),
  ].filter((line) => !line.endsWith('`HANDOFF.md`'));
  const more = changed.length > MAX_FILES ? [`and ${changed.length - MAX_FILES} more`] : [];
  return [
    ...printList(
      'Recent Commits',
      git.commits.map(({ hash, subject }) => `${hash.slice(0, 7)} ${quote(subject)}`),
    ),
    ...printList('Uncommitted Changes', [...changed.slice(0, MAX_FILES), ...more]),
  ];
}

function describeChange({ change, path, from }: ChangedFile): string {
  return from === undefined
    ? `${change} ${showPath(path)}`
    : `${change} ${showPath(from)} to ${showPath(path)}`;
}

function showPath(path: string): string {
  return `\`${revealControls(path).replaceAll('`', '\u2019')}\``;
}

function printList(heading: string, points: readonly string[]): string[] {
  return points.length === 0 ? [] : ['', `## ${heading}`, ...points.map((point) => `- ${point}`)];
}

/** The lines of SOUL.md that name somebody; not those of a template that nobody filled in. */
function findIdentity(soul: string): string[] {
  return soul
    .split('\n')
    .map((line) => /^- \*\*(Name|Purpose)\*\*: (?![([])(.+)$/.exec(line.trim()))
    .flatMap((match) => (match === null ? [] : [`**${match[1]}**: ${quote(match[2] ?? '')}`]));
}

/** Writes HANDOFF.md of a folder, from the newest handover of its project and from what git says now. */
export async function takeSnapshot(store: Store, folder: string, labels: SnapshotLabels): Promise<Snapshot> {
  const { machine } = store;
  const real = requireFolder(resolve(machine.cwd, folder));
  const place = describePlace(real, machine);
  const handover = await findNewestHandover(store, place.project.id);
  const redactor = openRedactor(machine, { folder: real, makesKey: true });
  return writeSnapshot(
    store,
    { folder: real, project: place.project.id },
    { at: machine.clock.now(), ...labels, place, handover, redactor },
  );
}
