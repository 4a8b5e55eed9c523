import { resolve } from 'node:path';
import { type Fact, getFileProbe, type ProcessProbe, type VersionProbe } from '../model/fact.ts';
import { type Handover, isForeign } from '../model/handover.ts';
import { isProse } from '../model/paths.ts';
import { countNouns, revealControls } from '../model/text.ts';
import { lastWorkOf, wasCapturedLate } from '../model/time.ts';
import type { ChangesSince, Claim, Commit, GitFacts } from '../model/workspace.ts';
import { statFile } from '../platform/external-file.ts';
import { resolveRealPath } from '../platform/folders.ts';
import { runGitOrNull } from '../platform/git.ts';
import { findListenerOn } from '../platform/listeners.ts';
import type { Machine } from '../platform/machine.ts';
import { isAlive, parseIdentity } from '../platform/process-identity.ts';
import type { Place } from '../platform/project.ts';
import {
  checkFiles,
  digestCode,
  type Found,
  GONE,
  HOLDS,
  type Looked,
  leadsOut,
  locateFile,
  REVEALED,
  UNKNOWN,
  wasWritten,
} from './file-claims.ts';
import { type LockReader, openLocks } from './lock-files.ts';
import { OUTDATED, RAN_ON } from './marks.ts';
import { listChanged } from './outcome.ts';

/** Checks everything that a handover states and that can be checked. Runs nothing but git, and writes nothing. */
export function checkClaims(handover: Handover, place: Place, machine: Machine): Claim[] {
  const folder = resolve(place.root, handover.workspace.folder);
  const looked = lookAt(place, machine);
  const { realRoot } = looked;
  const files = nameMoves(checkFiles(handover, looked), handover, looked);
  const locks = openLocks(folder);
  const others = handover.facts.flatMap(({ id, text, probe }): Claim[] => {
    if (probe === undefined || 'path' in probe) return [];
    if (!('lock' in probe)) return [{ fact: id, about: 'process', what: text, ...checkProcess(probe) }];
    const { lock, others = [], dependency, version } = probe;
    const isOut = leadsOut(resolve(folder, lock), realRoot);
    return [{ dependency, version }, ...others].map((one): Claim => {
      const found = isOut ? UNKNOWN : checkVersion({ lock, ...one }, locks);
      const what = others.length === 0 ? text : `${text}: ${one.dependency}`;
      return { fact: id, about: 'version', what, ...found };
    });
  });
  const compared = handover.facts
    .filter((fact) => getFileProbe(fact)?.sha256 != null)
    .map((fact) => locateFile(fact, handover, looked));
  const written = findWritten(handover, place).filter((path) => !compared.includes(resolve(place.root, path)));
  const git = checkGit(handover, place.workspace.git).map((claim) =>
    claim.about === 'uncommitted' && claim.state === 'holds' && written.length > 0 ? { ...claim, ...UNKNOWN } : claim,
  );
  const isEdited = written.some((path) => !isProse(path)) || hasOtherFiles(handover.workspace.git, place.workspace.git);
  return [
    ...git,
    ...checkCommits(handover, place, machine),
    ...files,
    ...checkChecks(handover, { git, files, isEdited, readCode: () => digestCode(handover, looked) }),
    ...others,
  ];
}

function lookAt(place: Place, machine: Machine): Looked {
  return { place, machine, realRoot: resolveRealPath(place.root) ?? place.root };
}

/** By which it is known later whether a check that was run now ran on the same code. */
export function digestCodeNow(handover: Handover, place: Place, machine: Machine): string {
  return digestCode(handover, lookAt(place, machine));
}

const MAX_WRITTEN = 200;

/** The files that were uncommitted at the capture and were written since: nobody knows what was in them. */
function findWritten(handover: Handover, { root }: Place): string[] {
  const { git } = handover.workspace;
  if (git === null || isForeign(handover)) return [];
  const since = Date.parse(handover.created_at);
  const paths = [...listChanged(git)].slice(0, MAX_WRITTEN).filter((path) => !REVEALED.test(path));
  return paths.filter((path) => (statFile(resolve(root, path))?.changedMs ?? 0) > since);
}

/** Whether files are uncommitted now that were not, or no longer are without a commit. */
function hasOtherFiles(before: GitFacts | null, after: GitFacts | null): boolean {
  if (before === null || after === null || areSame(before, after)) return false;
  const known = listChanged(before);
  return before.head === after.head || [...listChanged(after)].some((path) => !known.has(path));
}

function checkGit(handover: Handover, after: GitFacts | null): Claim[] {
  const before = handover.workspace.git;
  if (before === null) return [];
  const left = findLeftBranch(handover);
  if (left !== null && after !== null) {
    const [what, now] = [nameBranch(left), nameBranch(after.branch)];
    return [{ fact: null, about: 'branch', what, ...(what === now ? HOLDS : { state: 'changed', now }) }];
  }
  const known = listChanged(before);
  const compare = (about: Claim['about'], print: (git: GitFacts) => string): Claim => {
    const [what, now] = [print(before), after === null ? null : print(after)];
    const isSame = about === 'uncommitted' ? after !== null && areSame(before, after) : what === now;
    const found: Found = now === null ? UNKNOWN : isSame ? HOLDS : { state: 'changed', now };
    return { fact: null, about, what, ...found };
  };
  return [
    compare('branch', ({ branch }) => nameBranch(branch)),
    compare('head', ({ head }) => nameCommit(head)),
    ...(before.upstream === null ? [] : [compare('upstream', printUpstream)]),
    ...(before.changed_total === null || after?.changed_total === null
      ? []
      : [compare('uncommitted', (git) => printUncommitted(git, known))]),
  ];
}

/**
 * The branch that the session was on, where git was looked at only after its end, for a capture or a note, and on another
 * branch: then what git said is nothing that the session left.
 */
function findLeftBranch(handover: Handover): string | null {
  const { branch } = { branch: null, ...handover.facts.find(({ detail }) => detail?.role === 'state')?.detail };
  const isOther = typeof branch === 'string' && branch !== handover.workspace.git?.branch;
  return isOther && (wasCapturedLate(handover) || handover.noted_at !== undefined) ? branch : null;
}

export function nameBranch(branch: string | null): string {
  return branch === null ? '(detached)' : revealControls(branch);
}

export function nameCommit(hash: string | null): string {
  return hash?.slice(0, 12) ?? 'no commit';
}

function printUpstream({ upstream, ahead, behind }: GitFacts): string {
  return upstream === null ? 'no upstream' : `${ahead ?? '?'} ahead of ${upstream}, ${behind ?? '?'} behind`;
}

const NAMED_FILES = 5;

/** What was not among them before comes first. */
function printUncommitted(git: GitFacts, known: ReadonlySet<string>): string {
  const isOld = (path: string): number => (known.has(path) ? 1 : 0);
  const paths = [...listChanged(git)].sort((a, b) => isOld(a) - isOld(b) || (a < b ? -1 : 1));
  const more = paths.length > NAMED_FILES ? ', …' : '';
  const named = paths.length === 0 ? '' : `: ${paths.slice(0, NAMED_FILES).join(', ')}${more}`;
  return `${countNouns(git.changed_total ?? paths.length, 'uncommitted file')}${named}`;
}

/** Git lists a new folder by its name alone, and the files in it once one of them is staged; a staged move as one file. */
function areSame(...gits: [before: GitFacts, after: GitFacts]): boolean {
  const list = (git: GitFacts): Set<string> => {
    const moved = git.staged.flatMap(({ change, from }) => (change === 'renamed' ? (from ?? []) : []));
    return new Set([...listChanged(git), ...moved]);
  };
  const [before, after] = [list(gits[0]), list(gits[1])];
  if (gits[1].changed_cut && gits[0].changed_total !== gits[1].changed_total) return false;
  const isIn = (path: string, paths: ReadonlySet<string>): boolean =>
    paths.has(path) || [...paths].some((other) => isFolderOf(other, path) || isFolderOf(path, other));
  return [...before].every((path) => isIn(path, after)) && [...after].every((path) => isIn(path, before));
}

function isFolderOf(folder: string, path: string): boolean {
  return folder.endsWith('/') && path.startsWith(folder);
}

/** The hash that a fact about a commit of the session names; null for any other fact. */
function findCommitHash({ detail, text }: Fact): string | null {
  return detail?.about === 'commit' ? (/^commit ([0-9a-f]{7,64})\b/.exec(text)?.[1] ?? null) : null;
}

const MAX_HISTORY = 2000;

/** Whether the commits of the session are in the history of what is checked out. */
function checkCommits({ facts, workspace }: Handover, { root, workspace: { git } }: Place, machine: Machine): Claim[] {
  const commits = facts.flatMap((fact) => {
    const hash = findCommitHash(fact);
    return hash === null ? [] : [{ fact, hash }];
  });
  const recent = git?.commits.map(({ hash }) => hash) ?? [];
  const isIn = (hashes: readonly string[], hash: string): boolean => hashes.some((other) => other.startsWith(hash));
  const before = workspace.git?.commits.map(({ hash }) => hash) ?? [];
  let history: string[] | null = null;
  let isCut: boolean | null = null;
  return commits.map(({ fact, hash }): Claim => {
    const claim = { fact: fact.id, about: 'commit' as const, what: fact.text.replace(/^commit /, '') };
    if (git === null) return { ...claim, ...UNKNOWN };
    if (isIn(recent, hash)) return { ...claim, ...HOLDS };
    history ??= listHistory(root, machine);
    if (isIn(history, hash)) return { ...claim, ...HOLDS };
    isCut ??= history.length === 0 || history.length === MAX_HISTORY || isShallow(root, machine);
    if (isCut) return { ...claim, ...UNKNOWN };
    const where = git.branch === null ? 'what is checked out' : git.branch;
    // One that was made elsewhere, or taken back before the capture, has not changed since.
    const wasIn = isIn(before, hash);
    return { ...claim, state: wasIn ? 'gone' : 'unknown', now: `not in the history of ${where}` };
  });
}

function listHistory(cwd: string, { env }: Machine): string[] {
  const result = runGitOrNull(['log', '--format=%H', `--max-count=${MAX_HISTORY}`], { cwd, env });
  return result?.status === 0 ? result.stdout.toString('latin1').split('\n').filter(Boolean) : [];
}

function isShallow(cwd: string, { env }: Machine): boolean {
  return runGitOrNull(['rev-parse', '--is-shallow-repository'], { cwd, env })?.stdout.toString('latin1') !== 'false\n';
}

/** The files that are gone, with where git says that they were moved to since. */
function nameMoves(files: Claim[], handover: Handover, looked: Looked): Claim[] {
  if (!files.some(({ now }) => now === GONE)) return files;
  const { root, workspace } = looked.place;
  const staged = workspace.git?.staged.flatMap(({ change, from, path }) =>
    change === 'renamed' && from !== undefined ? [[from, path] as const] : [],
  );
  const moves = [...listMoves(handover.workspace.git?.head ?? null, looked), ...(staged ?? [])];
  const moved = new Map(moves.map(([from, to]) => [resolve(root, from), to]));
  return files.map((claim) => {
    const fact = claim.now === GONE ? handover.facts.find(({ id }) => id === claim.fact) : undefined;
    const to = fact === undefined ? undefined : moved.get(locateFile(fact, handover, looked));
    return to === undefined ? claim : { ...claim, now: `moved to ${revealControls(to)}` };
  });
}

/** The files that have another name in HEAD than in a commit. */
function listMoves(since: string | null, { place: { root }, machine: { env } }: Looked): [from: string, to: string][] {
  if (since === null || !/^[0-9a-f]{40,64}$/.test(since)) return [];
  const args = ['diff-tree', '-r', '-z', '-M', '--name-status', '--diff-filter=R', '--no-ext-diff', '--no-textconv'];
  const result = runGitOrNull([...args, since, 'HEAD', '--'], { cwd: root, env });
  const words = result?.status === 0 ? result.stdout.toString('utf8').split('\0') : [];
  return words.flatMap((word, at) => (at % 3 === 1 ? [[word, words[at + 1] ?? '']] : []));
}

/** The result of a check says nothing about code that has changed since. */
function checkChecks(
  { facts }: Handover,
  { git, files, isEdited, readCode }: { git: Claim[]; files: Claim[]; isEdited: boolean; readCode: () => string },
): Claim[] {
  const isOther = (claim: Claim): boolean => isChanged(claim.state) || wasWritten(claim);
  const hasCommits = git.some((claim) => claim.about === 'head' && isOther(claim));
  const hasOtherCode = files.some((claim) => claim.about === 'file' && !isProse(claim.what) && isOther(claim));
  let code: string | null = null;
  const judge = ({ detail }: Fact): string | null => {
    const { [RAN_ON]: ranOn, [OUTDATED]: outdated } = { ...detail };
    if (typeof outdated === 'string') return outdated;
    if (ranOn !== undefined) code ??= readCode();
    const isEditedSince = isEdited || (ranOn === undefined ? hasOtherCode : ranOn !== code);
    return isEditedSince ? 'files changed since' : hasCommits ? 'commits since' : null;
  };
  return facts
    .filter(({ kind, status }) => kind === 'check' && (status === 'ok' || status === 'failed'))
    .map((fact): Claim => {
      const now = judge(fact);
      const what = `${fact.text}: ${fact.status === 'ok' ? 'passed' : 'failed'}`;
      return { fact: fact.id, about: 'check', what, ...(now === null ? HOLDS : { state: 'unknown', now }) };
    });
}

function checkVersion({ lock, dependency, version }: VersionProbe, read: LockReader): Found {
  const now = read(lock, dependency);
  if (now === null) return UNKNOWN;
  if (now.includes(version)) return HOLDS;
  return now.length === 0
    ? { state: 'gone', now: `${dependency} is no longer in ${lock}` }
    : { state: 'changed', now: `${dependency} ${version} is ${now.slice(0, MAX_VERSIONS).join(' and ')} now` };
}

const MAX_VERSIONS = 3;

function checkProcess({ process, port }: ProcessProbe): Found {
  const identity = process === null ? null : parseIdentity(process);
  const alive = identity === null ? 'unknown' : isAlive(identity);
  // A process of another machine or boot says nothing about the ports of this one.
  if (identity === null || alive === 'unknown') return UNKNOWN;
  const listener = port === null ? null : findListenerOn(port, identity.pid);
  const isOthers = listener === 'another' || (alive === 'dead' && listener === 'hidden');
  if (alive === 'dead')
    return { state: 'gone', now: `has ended${isOthers ? `, but another process listens on port ${port} now` : ''}` };
  if (listener === 'nobody') return { state: 'changed', now: `no longer listens on port ${port}` };
  return isOthers ? { state: 'changed', now: `another process listens on port ${port} now` } : HOLDS;
}

/** Whether something is no longer as stated. */
export function isChanged(state: Claim['state']): boolean {
  return state === 'changed' || state === 'gone';
}

/** Compares what a handover states with the worktree as it is now. */
export function findChanges(handover: Handover, place: Place, machine: Machine): ChangesSince {
  const now = machine.clock.now();
  const claims = checkClaims(handover, place, machine);
  const files = claims.filter((claim) => claim.about === 'file' && (isChanged(claim.state) || wasWritten(claim)));
  return {
    ageMs: now - Date.parse(lastWorkOf(handover)),
    noteAgeMs: handover.noted_at === undefined ? null : now - Date.parse(handover.noted_at),
    ...compareGit(handover, place),
    files: files.map((claim) => ({
      path: claim.what,
      change: wasWritten(claim) ? 'written' : claim.state === 'gone' ? 'gone' : 'changed',
    })),
    claims,
  };
}

function compareGit(handover: Handover, place: Place): Pick<ChangesSince, 'branch' | 'head'> {
  const before = handover.workspace.git;
  const after = place.workspace.git;
  if (before === null || after === null) return { branch: null, head: null };
  const branch = findLeftBranch(handover) ?? before.branch;
  const late = listLateCommits(handover);
  // The head as the session left it; its commits may all be newer.
  const head = late.length === 0 ? before.head : (before.commits[late.length]?.hash ?? null);
  const newer = before.head === after.head ? [] : listNewer(after.commits, before.head);
  const isKnown = before.head === after.head || newer.length > 0;
  return {
    branch: branch === after.branch ? null : { before: branch, after: after.branch },
    head: head === after.head ? null : { before: head, after: after.head, commits: isKnown ? [...newer, ...late] : [] },
  };
}

/** The newest commits that were there when a session was captured, but that it cannot have known: made after its last event. */
export function listLateCommits({ workspace: { git }, session: { last_at }, facts }: Handover): Commit[] {
  const commits = git?.commits ?? [];
  const own = facts.flatMap((fact) => findCommitHash(fact) ?? []);
  const isLate = ({ hash, at }: Commit): boolean =>
    last_at !== undefined && at > last_at && !own.some((known) => hash.startsWith(known));
  const first = commits.findIndex((commit) => !isLate(commit));
  return first === -1 ? commits : commits.slice(0, first);
}

/** Empty if the earlier commit is not among them: then it is unknown what came in between. */
function listNewer(commits: readonly Commit[], earlier: string | null): Commit[] {
  const at = commits.findIndex(({ hash }) => hash === earlier);
  return at === -1 ? [] : commits.slice(0, at);
}
