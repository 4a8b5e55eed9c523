import { findStore } from '../../../app/context.ts';
import { bold, dim, yellow } from '../../../app/describe/styled-text.ts';
import { pickHandover } from '../../../app/find-handover.ts';
import { requireFact } from '../../../app/mark.ts';
import { usageError } from '../../../errors.ts';
import { diffHandovers, type HandoverDiff } from '../../../handover/diff.ts';
import { joinFacts } from '../../../handover/link.ts';
import { isEnding, type Marks, stateMarks } from '../../../handover/marks.ts';
import { FACT_KINDS, type Fact, type FactKind, readTold } from '../../../model/fact.ts';
import { isGuess, isProgressNote } from '../../../model/fact-roles.ts';
import type { Chain, EndedFacts, Handover, ImportOrigin, Quality } from '../../../model/handover.ts';
import { cleanLine, countUtf8Bytes, cutAtWord, quoteForShell } from '../../../model/text.ts';
import { lastWorkOf } from '../../../model/time.ts';
import { type GitFacts, printFolder } from '../../../model/workspace.ts';
import { readHistory, readIntact } from '../../../store/handovers.ts';
import { readMarks } from '../../../store/marks.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, idFlag, idPositional, remoteFlag, text, toggle } from '../flags.ts';
import type { Output } from '../output.ts';

const flags = {
  id: idFlag,
  events: {
    ...text('Trace the facts, or the one with this id, to the events they came from', 'fact'),
    inferEmpty: true,
  },
  remote: remoteFlag,
  json: toggle('Print JSON: the sealed record, or the events'),
} as const;
type ShowFlags = FlagValues<typeof flags>;

export const show = command('show', runShow, { positional: idPositional, flags });

async function runShow(this: CliContext, values: ShowFlags, id?: string): Promise<void> {
  if (values.events !== undefined) return await showEvents(this, values, id ?? values.id);
  const handover = await readShown(this, values.remote, id ?? values.id);
  if (values.json) this.out.json(handover);
  else
    printHandover(this.out, handover, {
      marks: readMarks(findStore(this), handover.project.id),
      followed: findFollowed(this, handover),
    });
}

/** What it follows, with what joined that, where all of it is still here. */
function findFollowed(context: CliContext, { previous, chain }: Handover): Handover | null {
  const ids = [previous, chain?.joined].filter((id) => typeof id === 'string');
  const found = ids.flatMap((id) => readIntact(findStore(context), id) ?? []);
  const [first] = found;
  if (first === undefined || found.length < ids.length) return null;
  return { ...first, facts: found.map(({ facts }) => facts).reduce(joinFacts) };
}

async function readShown(context: CliContext, remote: string | undefined, id: string | undefined): Promise<Handover> {
  if (remote === undefined) return await pickHandover(context, id);
  if (id === undefined)
    throw usageError('show --remote needs an id', `List them: handover list --remote ${quoteForShell(remote)}`);
  const { readFromTeam } = await import('../../../app/team.ts');
  return await readFromTeam(context, remote, id);
}

/** The word after the flag is a fact; if it cannot be one and no handover was named, it is the handover. */
async function showEvents(context: CliContext, values: ShowFlags, id: string | undefined): Promise<void> {
  const word = (values.events ?? '').trim();
  const isHandover = id === undefined && word !== '' && !/^f/i.test(word);
  const handover = await pickHandover(context, isHandover ? word : id);
  const facts =
    isHandover || word === '' ? handover.facts.filter((fact) => !isProgressNote(fact)) : [requireFact(handover, word)];
  const { traceFacts } = await import('../../../app/capture/trace.ts');
  const { describeTrace, traceToJson } = await import('../../../app/describe/trace.ts');
  const earlier = readHistory(findStore(context), handover);
  const trace = await traceFacts(handover, facts, { machine: context.machine, earlier });
  if (values.json) context.out.json(traceToJson(handover, trace));
  else context.out.lines(describeTrace(handover, trace));
}

function printHandover(
  out: Output,
  handover: Handover,
  { marks, followed }: { marks: Marks; followed: Handover | null },
): void {
  out.line(bold(handover.title));
  out.line(dim('id       '), handover.id);
  out.line(dim('created  '), handover.created_at);
  const worked = lastWorkOf(handover);
  if (worked !== handover.created_at) out.line(dim('worked   '), `until ${worked}`);
  if (handover.noted_at !== undefined) out.line(dim('noted    '), `by hand ${handover.noted_at}`);
  out.line(dim('agent    '), handover.session.agent);
  out.line(dim('project  '), `${handover.project.name} (${handover.project.id})`);
  const folder = printFolder(handover.workspace);
  if (folder !== '') out.line(dim('folder   '), folder);
  if (handover.project.remote !== null) out.line(dim('remote   '), handover.project.remote);
  if (handover.imported !== undefined) {
    out.line(dim('imported '), `from ${handover.imported.format}, where its id was ${handover.imported.id}`);
    printSigner(out, handover.imported.signer);
  }
  if (handover.previous !== null)
    out.line(
      dim('follows  '),
      [handover.previous, handover.chain?.joined ?? []].flat().join(' and '),
      followed === null ? describeChain(handover.chain) : describeDiff(diffHandovers(followed, handover)),
    );
  if (handover.quality !== null) printQuality(out, handover.quality);
  if (handover.summary !== '') {
    out.line();
    out.block(`${handover.summary}\n`);
  }
  const state = handover.facts.find(({ detail }) => detail?.role === 'state');
  if (state !== undefined) {
    out.line();
    out.block(`${state.text}\n`);
  }
  const facts = stateMarks(handover.facts, handover, marks).filter((fact) => !isProgressNote(fact));
  const said = facts.filter(isGuess);
  for (const kind of FACT_KINDS)
    printFacts(
      out,
      kind,
      facts.filter((fact) => fact.kind === kind && !said.includes(fact)),
    );
  printFacts(out, 'said by the agent', said);
  if (handover.workspace.git !== null) printGit(out, handover.workspace.git);
}

function printSigner(out: Output, signer: ImportOrigin['signer']): void {
  if (signer === null) out.line(dim('signer   '), yellow('none: anybody could have written this'));
  else if (signer !== undefined) out.line(dim('signer   '), `${signer.name}, key ${signer.key}`);
}

function describeDiff(diff: HandoverDiff): string {
  const ends = (['carried', 'changed', 'resolved', 'superseded', 'dropped'] as const).map(
    (end) => `${diff[end].length} ${end}`,
  );
  return `, of its facts ${ends.join(', ')}`;
}

/** As recorded: with notes of how far the session was, which nothing shows as facts. */
function describeChain(chain: Chain | undefined): string {
  if (chain === undefined) return '';
  const count = (parted: readonly EndedFacts[]): number => parted.reduce((sum, { ids }) => sum + ids.length, 0);
  const { carried, resolved, superseded, dropped } = chain;
  const parted = `${count(resolved)} resolved, ${superseded.length} superseded, ${count(dropped)} dropped`;
  return `, of its facts and notes ${carried} carried, ${parted}`;
}

function printQuality(out: Output, { score, rating, axes }: Quality): void {
  out.line(dim('quality  '), `${score.toFixed(2)}, ${rating}`);
  const parts = Object.entries(axes).map(([axis, value]) => `${axis} ${value.toFixed(2)}`);
  if (parts.length > 0) out.line('         ', dim(parts.join(', ')));
}

/** What an agent said or wrote at length is cut: `show --events` and `--json` have it all. */
const MAX_SAID_BYTES = 400;

function printFacts(out: Output, heading: FactKind | 'said by the agent', facts: readonly Fact[]): void {
  if (facts.length === 0) return;
  out.line();
  out.line(bold(heading));
  for (const fact of facts) {
    const isLong = fact.trust === 'quoted' && fact.origin === 'agent' && countUtf8Bytes(fact.text) > MAX_SAID_BYTES;
    const text = isLong ? cutAtWord(fact.text, MAX_SAID_BYTES) : fact.text;
    const [first = '', ...rest] = text.split('\n').filter((line) => !isLong || line.trim() !== '');
    const told = readTold(fact);
    const origin = told?.origin === 'human' ? `said by ${told.by ?? 'its sender'}` : fact.origin;
    const marks = [fact.trust, origin, ...(fact.pinned === true ? ['pinned'] : []), fact.id].join(', ');
    out.line('- ', fact.status === undefined ? '' : `[${fact.status}] `, first, dim(`  (${marks})`));
    const because = isEnding(fact.status) ? fact.detail?.because : null;
    for (const line of [...rest, ...(typeof because === 'string' ? [`because: ${cleanLine(because)}`] : [])])
      out.line('  ', line);
  }
}

const FILES_SHOWN = 50;

function printGit(out: Output, git: GitFacts): void {
  out.line();
  out.line(bold('git'));
  const branch = git.branch === null ? 'detached' : `branch ${git.branch}`;
  out.line('- ', branch, git.head === null ? ', no commit' : `, head ${git.head}`);
  if (git.upstream !== null) out.line('- ', `${git.ahead ?? 0} ahead, ${git.behind ?? 0} behind ${git.upstream}`);
  if (git.operation !== null) out.line('- ', `${git.operation} in progress`);
  const files = [
    ...git.conflicted.map((path) => `conflict    ${path}`),
    ...git.staged.map((file) => `staged      ${describeChange(file)}`),
    ...git.unstaged.map((file) => `changed     ${describeChange(file)}`),
    ...git.untracked.map((path) => `untracked   ${path}`),
  ];
  for (const line of files.slice(0, FILES_SHOWN)) out.line('  ', line.replaceAll('\n', '\u240a'));
  const hidden = (git.changed_total ?? files.length) - Math.min(files.length, FILES_SHOWN);
  if (hidden > 0) out.line(dim(`  and ${hidden} more changed files`));
  for (const commit of git.commits) out.line(dim(`  ${commit.hash.slice(0, 10)}  `), commit.subject);
}

function describeChange(file: { path: string; change: string; from?: string }): string {
  return `${file.change}: ${file.from === undefined ? '' : `${file.from} -> `}${file.path}`;
}
