import type { Fact } from '../model/fact.ts';
import { baseName } from '../model/paths.ts';
import type { Commit } from './commits.ts';
import { draftFact, type Relevance } from './facts.ts';
import type { MentionSource } from './name-index.ts';
import type { SessionLog } from './session-log.ts';
import { isChanged, isOutsideWork, relatePath, TouchedFile } from './touched-files.ts';

const MAX_OTHER_FILES = 60;
const SMALLEST_RELEVANCE = 60;

/** Files changed, with what was declared in them; files committed; files read; files that were only named but probably matter. */
export function findFileFacts(log: SessionLog, relevance: Relevance, commits: readonly Commit[]): (Fact | null)[] {
  const said = [...log.prompts, ...log.replies].map(({ text }) => text).join('\n');
  const changed = [...log.files.values()].filter(isChanged);
  const committed = findCommitted(log, commits);
  const others = rankOthers(log, relevance.file).filter(({ path }) => !committed.has(path));
  return [...changed, ...committed.values(), ...others].map((file) => {
    const name = baseName(file.path);
    const last = log.index.names.file.get(name)?.last ?? lastTouch(file);
    const declared = chooseNames(file, said);
    const parts = rankNames([...file.parts].slice(-MAX_RANKED), said);
    return draftFact('file', {
      text: relatePath(file.path, log.cwd),
      line: file.line,
      status: committed.has(file.path) ? 'committed' : statusOf(file),
      trust: file.reads > 0 || isChanged(file) || committed.has(file.path) ? 'observed' : 'inferred',
      origin: 'tool',
      age: log.calls - (lastTouch(file) || last),
      detail: {
        edits: file.edits,
        ...(file.failures === 0 ? {} : { failures: file.failures }),
        ...(file.begun === 0 ? {} : { begun: file.begun }),
        reads: file.reads,
        relevance: relevance.file.get(name) ?? 0,
        ...(file.deleted && file.movedTo !== null ? { moved: relatePath(file.movedTo, log.cwd) } : {}),
        ...(declared.length === 0 ? {} : { declared }),
        ...(parts.length === 0 ? {} : { parts: takeNames(parts) }),
        ...(file.todos.size === 0 ? {} : { todos: [...file.todos.keys()].slice(-MAX_NAMES) }),
      },
    });
  });
}

/** What is staged may also be a folder. */
const FILE_NAME = /[^\\/*]\.[a-z]\w{0,7}$/i;

/** Files that were staged by name for a commit and that no edit was seen of: they were changed in another way. */
function findCommitted({ files, cwd }: SessionLog, commits: readonly Commit[]): Map<string, TouchedFile> {
  const found = new Map<string, TouchedFile>();
  for (const { staged, run } of commits)
    for (const path of staged) {
      const known = files.get(path);
      const isOfWork = FILE_NAME.test(path) && (relatePath(path, cwd) !== path || !isOutsideWork(path, cwd));
      if (!isOfWork || (known !== undefined && isChanged(known))) continue;
      const file = Object.assign(new TouchedFile(path), known);
      found.set(path, Object.assign(file, { line: run.line, lastRead: Math.max(file.lastRead, run.call) }));
    }
  return found;
}

function statusOf(file: TouchedFile): string {
  if (file.deleted) return 'deleted';
  if (file.created) return 'created';
  if (file.edits > 0) return 'edited';
  if (file.begun > 0) return 'begun';
  return file.reads > 0 ? 'read' : 'mentioned';
}

const MAX_NAMES = 3;
const SHORTEST_NAME = 6;

/** Of the names that edits declared, those that were spoken of. */
function chooseNames({ defined }: TouchedFile, said: string): string[] {
  const long = [...defined].filter(([name]) => name.length >= SHORTEST_NAME);
  return takeNames(rankNames(long, said).filter(({ spoken }) => spoken > 0));
}

const MAX_RANKED = 20;

/** What was spoken of most often comes first, then what an edit declared last. */
function rankNames(declared: readonly (readonly [string, number])[], said: string): { name: string; spoken: number }[] {
  return declared
    .map(([name, call]) => ({ name, call, spoken: said.split(name, 4).length - 1 }))
    .sort((a, b) => b.spoken - a.spoken || b.call - a.call || (a.name < b.name ? -1 : 1));
}

function takeNames(ranked: readonly { name: string }[]): string[] {
  return ranked.slice(0, MAX_NAMES).map(({ name }) => name);
}

function lastTouch(file: TouchedFile): number {
  return Math.max(file.lastEdit, file.lastRead);
}

const MAX_OF_A_NAME = 8;

/** Unchanged files by relevance, of each base name the newest first. */
function rankOthers(log: SessionLog, relevance: ReadonlyMap<string, number>): TouchedFile[] {
  const touched = new Map<string, TouchedFile[]>();
  for (const file of log.files.values()) {
    const group = touched.get(baseName(file.path)) ?? [];
    group.push(file);
    touched.set(baseName(file.path), group);
  }
  return [...relevance]
    .filter(([, own]) => own >= SMALLEST_RELEVANCE)
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .flatMap(([name]) => {
      const known = touched.get(name) ?? (wasLookedFor(log, name) ? [describeMention(log, name)] : []);
      return known
        .filter(
          (file) =>
            !isChanged(file) && !isOutsideWork(file.path, log.cwd) && (file.reads > 0 || !NO_FILE.test(file.path)),
        )
        .sort((a, b) => lastTouch(b) - lastTouch(a))
        .slice(0, MAX_OF_A_NAME);
    })
    .slice(0, MAX_OTHER_FILES);
}

/** What is left of `<id>/full.jsonl`, and examples: where nobody opened such a file, there is none. */
const NO_FILE = /^\/(?:\d+\/)?[^/]*$|(?:^|\/)path\/to\//;

const PASSING: ReadonlySet<MentionSource> = new Set(['output', 'content', 'pattern']);

/** Whether somebody spoke of the file or a search found it. Outputs and contents name many files in passing. */
function wasLookedFor(log: SessionLog, name: string): boolean {
  const sources = log.index.names.file.get(name)?.by.keys() ?? [];
  return [...sources].some((source) => !PASSING.has(source));
}

/** A file that nobody opened, by the path most often seen for it. */
function describeMention(log: SessionLog, name: string): TouchedFile {
  const [best] = [...(log.index.paths.get(name) ?? [])].sort(
    ([a, left], [b, right]) => right - left || a.length - b.length || (a < b ? -1 : 1),
  );
  return new TouchedFile(best?.[0] ?? name);
}
