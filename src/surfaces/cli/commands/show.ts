import { buildCommand, type Command } from '@stricli/core';
import { FACT_KINDS, type Fact } from '../../../model/fact.ts';
import type { Chain, Handover, Imported, Parted, Quality } from '../../../model/handover.ts';
import type { GitFacts } from '../../../model/workspace.ts';
import { readEarlier } from '../../../store/earlier.ts';
import { type CliContext, findStore } from '../context.ts';
import { bold, dim, type Output, yellow } from '../output.ts';
import { idFlag, idPositional, pickHandover } from '../pick.ts';
import { requireFact } from '../pick-fact.ts';

export interface ShowFlags {
  id?: string;
  events?: string;
  json: boolean;
}

export const show: Command<CliContext> = buildCommand<ShowFlags, [string?], CliContext>({
  func: runShow,
  parameters: {
    positional: idPositional,
    flags: {
      id: idFlag,
      events: {
        kind: 'parsed',
        parse: (input: string): string => input,
        optional: true,
        inferEmpty: true,
        brief: 'Walk back from the facts, or from the one with this id, to the events they came from',
        placeholder: 'fact',
      },
      json: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Print JSON: the sealed record, or the events',
      },
    },
  },
  docs: { brief: 'Show all of a handover' },
});

export async function runShow(this: CliContext, flags: ShowFlags, id?: string): Promise<void> {
  if (flags.events !== undefined) {
    await showEvents(this, flags, id);
    return;
  }
  const handover = await pickHandover(this, id ?? flags.id);
  if (flags.json) this.out.json(handover);
  else printHandover(this.out, handover);
}

/** A word behind the flag is a fact; one that cannot be, where no handover was named, is the handover. */
async function showEvents(context: CliContext, flags: ShowFlags, id: string | undefined): Promise<void> {
  const word = (flags.events ?? '').trim();
  const isHandover = id === undefined && flags.id === undefined && word !== '' && !/^f/i.test(word);
  const handover = await pickHandover(context, isHandover ? word : (id ?? flags.id));
  const facts = isHandover || word === '' ? handover.facts : [requireFact(handover, word)];
  const { traceFacts } = await import('../../../app/capture/trace.ts');
  const { printTrace, traceToJson } = await import('../print-trace.ts');
  const earlier = readEarlier(findStore(context), handover);
  const trace = await traceFacts(handover, facts, { machine: context.machine, earlier });
  if (flags.json) context.out.json(traceToJson(handover, trace));
  else printTrace(context.out, handover, trace);
}

function printHandover(out: Output, handover: Handover): void {
  out.line(bold(handover.title));
  out.line(dim('id       '), handover.id);
  out.line(dim('created  '), handover.created_at);
  out.line(dim('agent    '), handover.session.agent);
  out.line(dim('project  '), `${handover.project.name} (${handover.project.id})`);
  out.line(
    dim('folder   '),
    [handover.workspace.root, handover.workspace.folder].filter((part) => part !== '').join('/'),
  );
  if (handover.project.remote !== null) out.line(dim('remote   '), handover.project.remote);
  if (handover.imported !== undefined) {
    out.line(dim('imported '), `${handover.imported.format}, where its id was ${handover.imported.id}`);
    printSigner(out, handover.imported.signer);
  }
  if (handover.previous !== null)
    out.line(dim('follows  '), handover.previous, describeChain(handover.chain));
  if (handover.quality !== null) printQuality(out, handover.quality);
  if (handover.summary !== '') {
    out.line();
    out.block(`${handover.summary}\n`);
  }
  for (const kind of FACT_KINDS) {
    printFacts(
      out,
      kind,
      handover.facts.filter((fact) => fact.kind === kind),
    );
  }
  if (handover.workspace.git !== null) printGit(out, handover.workspace.git);
}

function printSigner(out: Output, signer: Imported['signer']): void {
  if (signer === null) out.line(dim('signer   '), yellow('nobody: anybody can have written this'));
  else if (signer !== undefined) out.line(dim('signer   '), `${signer.name}, key ${signer.key}`);
}

function describeChain(chain: Chain | undefined): string {
  if (chain === undefined) return '';
  const count = (parted: readonly Parted[]): number => parted.reduce((sum, { ids }) => sum + ids.length, 0);
  const parts = [
    `${chain.carried} carried`,
    `${count(chain.resolved)} resolved`,
    `${chain.superseded.length} superseded`,
    `${count(chain.dropped)} dropped`,
  ];
  return `, of its facts ${parts.join(', ')}`;
}

function printQuality(out: Output, { score, rating, axes }: Quality): void {
  out.line(dim('quality  '), `${score.toFixed(2)}, ${rating}`);
  const parts = Object.entries(axes).map(([axis, value]) => `${axis} ${value.toFixed(2)}`);
  if (parts.length > 0) out.line('         ', dim(parts.join(', ')));
}

function printFacts(out: Output, kind: string, facts: readonly Fact[]): void {
  if (facts.length === 0) return;
  out.line();
  out.line(bold(kind));
  for (const fact of facts) {
    const [first = '', ...rest] = fact.text.split('\n');
    const marks = [fact.trust, fact.origin, ...(fact.pinned === true ? ['pinned'] : []), fact.id].join(', ');
    out.line('- ', fact.status === undefined ? '' : `[${fact.status}] `, first, dim(`  (${marks})`));
    for (const line of rest) out.line('  ', line);
  }
}

const FILES_SHOWN = 50;

function printGit(out: Output, git: GitFacts): void {
  out.line();
  out.line(bold('git'));
  out.line(
    '- ',
    git.branch === null ? 'detached' : `branch ${git.branch}`,
    git.head === null ? ', no commit' : `, head ${git.head}`,
  );
  if (git.upstream !== null)
    out.line('- ', `${git.ahead ?? 0} ahead, ${git.behind ?? 0} behind ${git.upstream}`);
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
