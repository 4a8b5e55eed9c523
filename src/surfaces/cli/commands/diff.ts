import { findStore, withCatalog } from '../../../app/context.ts';
import { bold, dim, type Part } from '../../../app/describe/styled-text.ts';
import { pickHandover } from '../../../app/find-handover.ts';
import { notFoundError } from '../../../errors.ts';
import {
  type Change,
  diffHandovers,
  type EndedFact,
  type HandoverDiff,
  type Relation,
} from '../../../handover/diff.ts';
import { findForgotten, traceFacts } from '../../../handover/line-of-work.ts';
import { FACT_KINDS, type Fact } from '../../../model/fact.ts';
import { NO_AGENT } from '../../../model/fact-roles.ts';
import type { Handover } from '../../../model/handover.ts';
import { cutAtWord, revealControls } from '../../../model/text.ts';
import { isSavedByHand, lastChangeOf } from '../../../model/time.ts';
import { listAliases } from '../../../platform/known-projects.ts';
import { listByWork } from '../../../store/catalog.ts';
import { requireHandover } from '../../../store/find-handover.ts';
import { hasHandover, readHistory } from '../../../store/handovers.ts';
import type { CliContext } from '../context.ts';
import { command, conflictError, type FlagValues, json, optionalArgument, toggle, tuple } from '../flags.ts';
import type { Output } from '../output.ts';

const flags = {
  all: toggle('All lines, also of unchanged facts'),
  chain: toggle(
    'What became of every rule, decision, task, message and pin, from the first handover of the line of work',
  ),
  json,
};
type DiffFlags = FlagValues<typeof flags>;

export const diff = command('diff', runDiff, {
  positional: tuple(
    optionalArgument('An id, its start or end, or latest; alone, compared with the one before it', 'id'),
    optionalArgument('The handover to compare it with', 'other'),
  ),
  flags,
});

async function runDiff(this: CliContext, values: DiffFlags, words?: string, otherWords?: string): Promise<void> {
  const { all } = values;
  if (values.chain && otherWords !== undefined) throw conflictError('--chain', 'a second handover');
  const named = await pickHandover(this, words);
  if (values.chain) return showLine(this, named, values);
  const [picked, second] =
    otherWords === undefined ? [await findEarlier(this, named), named] : [named, await pickHandover(this, otherWords)];
  // A project has several ids when its remote or folder changed.
  const isOneProject = listAliases(this.machine, second.project.id).includes(picked.project.id);
  const first = isOneProject ? { ...picked, project: second.project } : picked;
  const found = diffHandovers(first, second);
  if (values.json) this.out.json(toJson(first, second, { diff: found, all }));
  else {
    if (found.relation === 'another project') {
      const names = `${first.project.name} and ${second.project.name}`;
      this.notify({ level: 'note', text: `these are from different projects: ${names}` });
    }
    printDiff(this.out, first, second, { diff: found, all });
  }
}

/** The one that it follows; for one that follows none, the next older of its project. */
async function findEarlier(context: CliContext, { id, previous, project }: Handover): Promise<Handover> {
  const store = findStore(context);
  if (previous !== null && hasHandover(store, previous)) return requireHandover(store, previous);
  const older = await withCatalog(context, store, async (catalog) => {
    let isOlder = false;
    for await (const row of listByWork(catalog, { project: { id: project.id } })) {
      if (isOlder) return row;
      isOlder = row.id === id;
    }
    return null;
  });
  if (previous === null && older !== null) return requireHandover(store, older.id);
  const what = previous === null ? `${id} has no predecessor` : `${previous}, the predecessor of ${id}, was deleted`;
  throw notFoundError(what, 'Name two: handover diff ID OTHER; list handovers: handover list');
}

function showLine(context: CliContext, named: Handover, { all, json: asJson }: DiffFlags): void {
  const { out } = context;
  const line = [...readHistory(findStore(context), named), named];
  const facts = traceFacts(line);
  if (asJson) {
    const described = facts.map(({ fact, since, end }) => ({ ...outline(fact), since, end }));
    out.json({ handovers: line.map(describe), facts: described });
    return;
  }
  for (const [at, handover] of line.entries()) {
    const gone = findForgotten(line, at);
    if (gone !== null) out.line(bold(gone), dim('  forgotten: what it said of the facts before it is not known'));
    const author = isSavedByHand(handover) ? NO_AGENT : handover.session.agent;
    out.line(bold(handover.id), dim(`  ${lastChangeOf(handover)}  ${author}`), `  ${oneLine(handover.title)}`);
  }
  const most = all ? Number.POSITIVE_INFINITY : MAX_LINES;
  for (const how of ['lost', null, 'dropped', 'superseded', 'resolved'] as const) {
    const of = facts.filter(({ end }) => (end?.how ?? null) === how);
    if (of.length === 0) continue;
    out.line();
    out.line(bold(`${how ?? 'standing'} (${of.length})`));
    for (const { fact, since, end } of of.slice(0, most)) {
      const until = end === null ? '' : `, until ${end.in}: ${oneLine(end.reason)}`;
      out.line(`  ${fact.kind.padEnd(KIND_WIDTH)}`, shorten(fact), dim(`  (since ${since}${until}, ${fact.id})`));
    }
    if (of.length > most)
      out.line(dim(`  and ${of.length - most} more; show all: handover diff ${named.id} --chain --all`));
  }
}

type DiffOptions = { diff: HandoverDiff; all: boolean };

function toJson(first: Handover, second: Handover, { diff, all }: DiffOptions): unknown {
  const { relation, added, carried, changed, resolved, superseded, dropped, git } = diff;
  return {
    first: describe(first),
    second: describe(second),
    relation,
    new: added.map(outline),
    carried: carried.length,
    ...(all ? { carried_facts: carried.map(outline) } : {}),
    changed: changed.map(({ before, after }) => ({ before: outline(before), after: outline(after) })),
    resolved: resolved.map(({ fact, reason }) => ({ ...outline(fact), reason })),
    superseded: superseded.map(({ fact, reason, by }) => ({ ...outline(fact), reason, by: by && outline(by) })),
    dropped: dropped.map(({ fact, reason }) => ({ ...outline(fact), reason })),
    git,
  };
}

function describe({ id, created_at, session: { agent }, project, title }: Handover): unknown {
  return { id, created_at, agent, project: { id: project.id, name: project.name }, title };
}

function outline({ id, kind, status, text }: Fact): object {
  return { id, kind, status: status ?? null, text };
}

const RELATIONS: Record<Relation, string> = {
  same: 'the same handover',
  follows: 'the second follows the first',
  later: 'the second is later',
  earlier: 'the second is earlier',
  'another project': 'different projects',
};

function printDiff(out: Output, first: Handover, second: Handover, { diff, all }: DiffOptions): void {
  out.line(dim('first    '), bold(first.id), `  ${lastChangeOf(first)}  ${oneLine(first.title)}`);
  out.line(dim('second   '), bold(second.id), `  ${lastChangeOf(second)}  ${oneLine(second.title)}`);
  out.line(dim('relation '), RELATIONS[diff.relation]);
  if (diff.relation !== 'another project') out.line(dim('project  '), first.project.name);
  if (diff.git !== null) {
    out.line(dim('branch   '), showChange(diff.git.branch, 'none'));
    out.line(dim('head     '), showChange(diff.git.head, 'no commit'));
  }
  const { added, carried, changed, resolved, superseded, dropped } = diff;
  const counted = { new: added, carried, changed, resolved, superseded, dropped };
  const counts = Object.entries(counted).map(([name, { length }]) => `${length} ${name}`);
  out.line(dim('facts    '), counts.join(', '));
  const most = all ? Number.POSITIVE_INFINITY : MAX_LINES;
  for (const [heading, lines] of listSections(diff, all)) {
    if (lines.length === 0) continue;
    out.line();
    out.line(bold(heading));
    for (const line of lines.slice(0, most)) out.line(...line);
    if (lines.length > most)
      out.line(dim(`  and ${lines.length - most} more; show all: handover diff ${first.id} ${second.id} --all`));
  }
}

function showChange({ before, after }: Change<string | null>, none: string): string {
  const show = (text: string | null): string => (text === null ? none : oneLine(text).slice(0, 40));
  return before === after ? show(before) : `${show(before)} -> ${show(after)}`;
}

const MAX_LINES = 20;

function listSections(diff: HandoverDiff, all: boolean): [heading: string, lines: Part[][]][] {
  const byKind = <T>(items: readonly T[], factOf: (item: T) => Fact): T[] =>
    [...items].sort((a, b) => FACT_KINDS.indexOf(factOf(a).kind) - FACT_KINDS.indexOf(factOf(b).kind));
  const itself = (fact: Fact): Fact => fact;
  const listParted = (partings: readonly (EndedFact & { by?: Fact | null })[]): Part[][] =>
    byKind(partings, ({ fact }) => fact).map(({ fact, reason, by = null }) => [
      '- ',
      ...showFact(fact, reason),
      ...(by === null ? [] : [`\n${INDENT}-> ${shorten(by)}`]),
    ]);
  return [
    ['new', byKind(diff.added, itself).map((fact) => ['+ ', ...showFact(fact)])],
    ['changed', byKind(diff.changed, ({ before }) => before).map((change) => ['~ ', ...showChanged(change)])],
    ['resolved', listParted(diff.resolved)],
    ['superseded', listParted(diff.superseded)],
    ['dropped', listParted(diff.dropped)],
    ['carried', all ? byKind(diff.carried, itself).map((fact) => ['  ', ...showFact(fact)]) : []],
    [
      'changed files (git)',
      [
        ...(diff.git?.files.added ?? []).map((path) => [`+ ${oneLine(path)}`]),
        ...(diff.git?.files.gone ?? []).map((path) => [`- ${oneLine(path)}`]),
      ],
    ],
  ];
}

const KIND_WIDTH = 11;
const INDENT = ' '.repeat(2 + KIND_WIDTH);

function showFact(fact: Fact, reason?: string): Part[] {
  const marks = [...(reason === undefined ? [] : [reason]), fact.id].join(', ');
  return [fact.kind.padEnd(KIND_WIDTH), shorten(fact), dim(`  (${marks})`)];
}

/** A changed status takes one line; a changed text is shown below the old one. */
function showChanged({ before, after }: Change<Fact>): Part[] {
  const kind = before.kind.padEnd(KIND_WIDTH);
  if (before.text !== after.text)
    return [kind, shorten(before), dim(`  (${before.id})`), `\n${INDENT}-> ${shorten(after)}`];
  const statuses = `${before.status ?? 'none'} -> ${after.status ?? 'none'}`;
  return [kind, `[${statuses}] `, shorten({ ...before, status: '' }), dim(`  (${before.id})`)];
}

const MAX_BYTES = 160;

function shorten(fact: Fact): string {
  const status = fact.status === undefined || fact.status === '' ? '' : `[${fact.status}] `;
  return `${status}${cutAtWord(oneLine(fact.text), MAX_BYTES)}`;
}

function oneLine(text: string): string {
  return revealControls(text.replace(/\s+/g, ' ').trim());
}
