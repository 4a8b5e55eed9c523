import { type Handover, isForeign } from '../../model/handover.ts';
import { baseName } from '../../model/paths.ts';
import { cleanLine, cutAtWord, cutToBytes, revealControls } from '../../model/text.ts';
import { describeAge } from '../../model/time.ts';
import type { ChangesSince } from '../../model/workspace.ts';
import { countLineBytes, IMPORTED_MARK, printFact, printTree, QUOTE, quoteLines, readMessage } from './lines.ts';
import type { Entry } from './page.ts';
import { type BriefInput, orderOf, rankOf, type Section, type WeightedFact } from './sections.ts';
import { BYTES_PER_TOKEN, type FactWeight } from './weight.ts';

const MAX_FILES = 15;
const MAX_COMMITS = 5;
const MAX_SUBJECT_BYTES = 80;

function printChanges({ ageMs, branch, head, files }: ChangesSince): string[] {
  const lines = [
    `${describeAge(ageMs)}${branch === null && head === null && files.length === 0 ? '; nothing that it tells of has changed' : ''}`,
  ];
  if (branch !== null) lines.push(`branch ${nameBranch(branch.before)} -> ${nameBranch(branch.after)}`);
  if (head !== null) {
    const count = head.commits.length;
    const since = count === 0 ? '' : `, ${count === 1 ? '1 commit' : `${count} commits`} since`;
    lines.push(`head ${nameCommit(head.before)} -> ${nameCommit(head.after)}${since}`);
    for (const { hash, subject } of head.commits.slice(0, MAX_COMMITS))
      lines.push(`  ${nameCommit(hash)} ${cutToBytes(revealControls(subject), MAX_SUBJECT_BYTES)}`);
  }
  for (const { path, change } of files.slice(0, MAX_FILES)) lines.push(`${change}: ${revealControls(path)}`);
  if (files.length > MAX_FILES) lines.push(`and ${files.length - MAX_FILES} more files`);
  return lines.map((line) => `${QUOTE}${line}`);
}

function nameBranch(branch: string | null): string {
  return branch === null ? '(detached)' : revealControls(branch);
}

function nameCommit(hash: string | null): string {
  return hash?.slice(0, 12) ?? 'no commit';
}

/** Puts lines on the page; null when they do not fit. */
export type Put = (section: Section, lines: string[], order?: number) => Entry | null;

/** Places what must be in the brief. Returns the changed files, with the entries that symbols may be added to. */
export function placeRequired(
  put: Put,
  handover: Handover,
  { facts, budget, goal, changes }: BriefInput,
  shown: Set<string>,
): { entry: Entry; weight: FactWeight }[] {
  const place = ({ fact, section, weight }: WeightedFact, lines: string[]): Entry | null => {
    const entry = put(section, lines, orderOf(section, fact, weight));
    if (entry !== null) shown.add(fact.id);
    return entry;
  };
  const of = (section: Section): WeightedFact[] => facts.filter((item) => item.section === section);
  for (const line of changes === null ? [] : printChanges(changes)) put('since', [line]);
  if (goal !== null && !facts.some(({ fact }) => fact.kind === 'goal' && fact.text === goal.text))
    put('goal', quoteLines(cutAtWord(goal.text, MAX_GOAL_BYTES)));
  for (const { item, lines } of fitPinned(of('pinned'), Math.floor(budget * BYTES_PER_TOKEN * PINNED_SHARE)))
    place(item, lines);
  const { git } = handover.workspace;
  const tree = git === null || isForeign(handover) ? null : printTree(git);
  if (tree !== null) put('tree', [tree.head], -1);
  for (const item of of('current')) {
    const bytes = item.weight.role === 'current' ? Math.max(820, Math.min(1400, Math.floor(budget * 0.7))) : 300;
    place(item, [`${QUOTE}${cutAtWord(readMessage(item.fact.text), bytes)}`]);
  }
  const firstBytes = Math.min(830, Math.floor(budget * 0.42));
  for (const item of of('first')) place(item, [`${QUOTE}${cutAtWord(readMessage(item.fact.text), firstBytes)}`]);
  for (const item of facts.filter(isDeclared).sort((a, b) => rankOf(a.fact.kind) - rankOf(b.fact.kind)))
    if (!shown.has(item.fact.id)) place(item, printFact(item.fact, item.weight));
  if (handover.summary !== '') placeProse(put, handover, budget);
  placeTasks(of('tasks'), place, budget);
  for (const item of of('stopped')) place(item, quoteLines(cutAtWord(item.fact.text, Math.floor(budget * 0.25))));
  const newestFirst = of('changed').sort((a, b) => a.weight.age - b.weight.age);
  const changed = newestFirst.slice(0, 60);
  const placed = changed.flatMap((item) => {
    const entry = place(item, printFact(item.fact, item.weight));
    if (entry === null) return [];
    entry.file = revealControls(baseName(item.fact.text));
    return [{ entry, weight: item.weight }];
  });
  const uncaptured = changed.length === 0 ? (tree?.files ?? []) : [];
  for (const line of uncaptured.slice(0, MAX_TREE_FILES)) put('tree', [line]);
  return placed;
}

/** The share of the page that pinned facts may take before the longest are cut. */
const PINNED_SHARE = 0.4;

/** All pinned facts. Where there is not room for all, the long ones are cut to an even share of what the short ones leave. */
function fitPinned(pinned: readonly WeightedFact[], room: number): { item: WeightedFact; lines: string[] }[] {
  const printed = pinned.map((item) => ({ item, lines: printFact(item.fact, item.weight) }));
  const sizes = printed.map(({ lines }) => countLineBytes(lines)).sort((a, b) => a - b);
  let left = room;
  let share = Number.POSITIVE_INFINITY;
  for (const [at, size] of sizes.entries()) {
    share = Math.floor(left / (sizes.length - at));
    if (size > share) break;
    share = Number.POSITIVE_INFINITY;
    left -= size;
  }
  return printed.map(({ item, lines }) => {
    if (countLineBytes(lines) <= share) return { item, lines };
    const print = (text: string): string[] => printFact({ ...item.fact, text }, item.weight);
    const room = Math.max(SHORTEST_PINNED, share - countLineBytes(print('-')));
    return { item, lines: print(cutAtWord(cleanLine(item.fact.text), room)) };
  });
}

const SHORTEST_PINNED = 40;
const MAX_GOAL_BYTES = 600;
const MAX_TREE_FILES = 40;

function isDeclared({ fact }: WeightedFact): boolean {
  const isImported = fact.trust === 'imported' && fact.detail?.points === undefined;
  return fact.trust === 'declared' || isImported || fact.status === 'refuted';
}

const FIRST = Number.NEGATIVE_INFINITY;

function placeProse(put: Put, handover: Handover, budget: number): void {
  const section = isForeign(handover) ? 'imported' : 'summary';
  const text = isForeign(handover) ? `${IMPORTED_MARK}${handover.summary}` : handover.summary;
  for (const share of [1, 1 / 2, 1 / 4, 1 / 8]) {
    const cut = share === 1 ? text : cutAtWord(text, Math.floor(budget * BYTES_PER_TOKEN * share));
    if (put(section, quoteLines(cut), FIRST) !== null) return;
  }
}

function placeTasks(
  tasks: readonly WeightedFact[],
  place: (item: WeightedFact, lines: string[]) => Entry | null,
  budget: number,
): void {
  let room = Math.floor((budget * BYTES_PER_TOKEN) / 8);
  for (const item of tasks) {
    if (item.fact.status !== 'pending' && item.fact.status !== 'in_progress') continue;
    const lines = printFact(item.fact, item.weight);
    room -= countLineBytes(lines);
    if (room < 0) return;
    place(item, lines);
  }
}
