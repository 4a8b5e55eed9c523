import { join, resolve } from 'node:path';
import type { Fact } from '../model/fact.ts';
import { isGuess } from '../model/fact-roles.ts';
import type { Handover } from '../model/handover.ts';
import { sha256Hex } from '../model/hash.ts';
import { cleanLine, cutAtWord, disarmFrames, revealControls } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import type { ChangedFile, GitFacts } from '../model/workspace.ts';
import { requireFolder } from '../platform/folders.ts';
import { describePlace, detectProjectTypes, type Place } from '../platform/project.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { findNewestHandover } from '../store/find-handover.ts';
import type { Store } from '../store/store.ts';
import { readDocument, replaceDocument, withDocumentLock } from './documents.ts';
import { readFrontMatter } from './note-file.ts';

const MAX_POINTS = 12;
const MAX_POINT_BYTES = 400;
const MAX_FILES = 40;

const CLOSED = ['completed', 'cancelled'];
const LISTS: readonly (readonly [heading: string, belongs: (fact: Fact) => boolean])[] = [
  ['Goal', ({ kind }) => kind === 'goal'],
  ['Decisions', ({ kind }) => kind === 'decision'],
  ['Constraints', ({ kind }) => kind === 'constraint'],
  ['Rejected', ({ kind }) => kind === 'rejected'],
  ['What’s Next', ({ kind, status = '' }) => kind === 'next' || (kind === 'task' && !CLOSED.includes(status))],
  ['Blockers', ({ kind, status }) => kind === 'blocker' || (kind === 'error' && status === 'open')],
  ['Open Questions', ({ kind, trust, status }) => kind === 'question' && (trust !== 'quoted' || status === 'open')],
];

/** The facts of a handover as Markdown lists, pinned facts first. What an agent only said is not listed as settled. */
function printFacts({ facts }: Handover): string[] {
  return LISTS.flatMap(([heading, belongs]) => {
    const own = facts.filter((fact) => belongs(fact) && !isGuess(fact));
    const sorted = [...own.filter(({ pinned }) => pinned), ...own.filter(({ pinned }) => !pinned)];
    const points = sorted.map(({ text }) => quote(text));
    return printList(heading, limit(points, MAX_POINTS));
  });
}

function limit(items: readonly string[], max: number): readonly string[] {
  return items.length > max ? [...items.slice(0, max), `and ${items.length - max} more`] : items;
}

function printList(heading: string, points: readonly string[]): string[] {
  return points.length === 0 ? [] : ['', `## ${heading}`, ...points.map((point) => `- ${point}`)];
}

/** Untrusted text on one line of Markdown: it can neither start a heading nor open a comment. */
export function quote(text: string): string {
  return disarmFrames(cutAtWord(cleanLine(text), MAX_POINT_BYTES)).replaceAll('<!--', '&lt;!--');
}

/** A handover as a note of layer 1. */
export function printHandoverNote(handover: Handover): string {
  const { title, summary, id, session } = handover;
  const intro = summary.trim() === '' ? [] : ['', quote(summary)];
  const head = [`# ${quote(title)}`, '', `Handover ${id}, from ${quote(session.agent)}.`, ...intro];
  return [...head, ...printFacts(handover)].join('\n');
}

interface HandoffLabels {
  /** The kind of session, such as build. */
  mode: string;
  /** The agent's name. */
  name?: string | undefined;
  /** In milliseconds; now if left out. */
  at?: number;
}

export interface HandoffFile {
  path: string;
  text: string;
  /** False when only the time or the count of unpushed commits differs; the file is unchanged then. */
  isNew: boolean;
  /** Where the previous HANDOFF.md was backed up. */
  backup: string | null;
}

/** Writes HANDOFF.md from the newest handover and git. The previous one is backed up; its front matter stays. */
export async function writeHandoffFile(store: Store, folder: string, labels: HandoffLabels): Promise<HandoffFile> {
  const { machine } = store;
  const real = requireFolder(resolve(machine.cwd, folder));
  const place = describePlace(real, machine);
  const workspace = { folder: real, project: place.project.id };
  const handover = await findNewestHandover(store, place.project.id);
  const redactor = openRedactor(machine, { folder: real, makesKey: true });
  const path = join(real, 'HANDOFF.md');
  const at = labels.at ?? machine.clock.now();
  return withDocumentLock(store, workspace, () => {
    const before = readDocument(workspace, 'HANDOFF.md')?.toString('utf8') ?? null;
    const body = redactor.redactText(printBody({ ...labels, at, place, handover, folder: real }));
    const mark = `${formatTimestamp(at)} | ${handover?.id ?? 'none'} | sha256:${sha256Hex(body)}`;
    const text = `${readFrontMatter(before ?? '')}${body}<!-- agent-handover | handoff | ${mark} -->\n`;
    if (before !== null && withoutVolatile(before) === withoutVolatile(text))
      return { path, text: before, isNew: false, backup: null };
    return { path, text, isNew: true, backup: replaceDocument(store, workspace, 'HANDOFF.md', text) };
  });
}

const FOOTER = /^<!-- agent-handover \| handoff \| (\S+) \| (\S+) \| sha256:([0-9a-f]{64}) -->\n?$/m;
const WHEN = /^- \*\*When\*\*: .*$/m;
const AGAINST = /^(- \*\*Branch\*\*: .*), \d+ ahead, \d+ behind$/m;

/** Without the time and the count of unpushed commits: a commit of this very file changes that. */
function withoutVolatile(text: string): string {
  return text.replace(FOOTER, '').replace(WHEN, '').replace(AGAINST, '$1');
}

/** The footer of a HANDOFF.md; null for one that no snapshot wrote. */
export function readHandoffFooter(text: string): { at: string; handover: string | null; intact: boolean } | null {
  const match = FOOTER.exec(text);
  if (match === null) return null;
  const [, at = '', handover = '', checksum] = match;
  const body = text.slice(readFrontMatter(text).length, match.index);
  return { at, handover: handover === 'none' ? null : handover, intact: sha256Hex(body) === checksum };
}

type HandoffSource = HandoffLabels & {
  at: number;
  place: Place;
  handover: Handover | null;
  folder: string;
};

function printBody({ mode, name, at, place, handover, folder }: HandoffSource): string {
  const { git } = place.workspace;
  const soul = readDocument({ folder }, 'SOUL.md')?.toString('utf8') ?? '';
  const hasMemory = readDocument({ folder }, 'MEMORY.md') !== null;
  const lines = [
    '# HANDOFF.md',
    '',
    '## Last Session',
    `- **When**: ${formatTimestamp(at)}`,
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
    ...printWhatHappened(handover),
    ...(handover === null ? [] : printFacts(handover)),
    ...(git === null ? [] : printGit(git)),
    ...printList('Identity (from SOUL.md)', findIdentity(soul)),
    ...printList('Knowledge (from MEMORY.md)', hasMemory ? ['See MEMORY.md'] : []),
    '',
    '',
  ];
  return lines.join('\n');
}

function printWhatHappened(handover: Handover | null): string[] {
  if (handover === null) return ['- (no handover of this project is kept; `handover capture` makes one)'];
  const [title, summary] = [quote(handover.title), quote(handover.summary.trim())];
  return summary === '' || summary === title ? [`- ${title}`] : [`- ${title}`, `- ${summary}`];
}

function printHead({ branch, commits: [head], ahead, behind, operation }: GitFacts): string[] {
  const against = ahead === null || behind === null ? '' : `, ${ahead} ahead, ${behind} behind`;
  return [
    `- **Branch**: ${disarmFrames(revealControls(branch ?? '(detached)'))}${against}`,
    ...(head === undefined ? [] : [`- **Head**: ${head.hash.slice(0, 12)}`]),
    ...(operation === null ? [] : [`- **In the middle of**: ${operation}`]),
  ];
}

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
  const commits = git.commits.map(({ hash, subject }) => `${hash.slice(0, 7)} ${quote(subject)}`);
  return [...printList('Recent Commits', commits), ...printList('Uncommitted Changes', limit(changed, MAX_FILES))];
}

function describeChange({ change, path, from }: ChangedFile): string {
  return `${change} ${from === undefined ? '' : `${showPath(from)} to `}${showPath(path)}`;
}

function showPath(path: string): string {
  return `\`${disarmFrames(revealControls(path)).replaceAll('`', '\u2019')}\``;
}

/** Name and purpose from SOUL.md, unless they are still the template's. */
function findIdentity(soul: string): string[] {
  return soul
    .split('\n')
    .map((line) => /^- \*\*(Name|Purpose)\*\*: (?![([])(.+)$/.exec(line.trim()))
    .flatMap((match) => (match === null ? [] : [`**${match[1]}**: ${quote(match[2] ?? '')}`]));
}
