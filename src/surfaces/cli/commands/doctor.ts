import { buildCommand, type Command } from '@stricli/core';
import { findDrift } from '../../../app/capture/find-drift.ts';
import { EXIT } from '../../../errors.ts';
import { type Examination, examineStore, fixFindings } from '../../../store/doctor/doctor.ts';
import type { FixedFinding, Level } from '../../../store/doctor/finding.ts';
import { type CliContext, findStore, progressOf } from '../context.ts';
import { toFinding } from '../drift.ts';
import { findHookFailures } from '../hook-failures.ts';
import { findBrokenHooks } from '../hook-findings.ts';
import { bold, dim, green, type Output, red, type Styled, yellow } from '../output.ts';

export interface DoctorFlags {
  fix: boolean;
  json: boolean;
}

export const doctor: Command<CliContext> = buildCommand<DoctorFlags, [], CliContext>({
  func: runDoctor,
  parameters: {
    flags: {
      fix: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Put right what can be put right safely',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Check everything that is kept' },
});

/** Exit status 65 while something is damaged and not yet dealt with. */
export async function runDoctor(this: CliContext, flags: DoctorFlags): Promise<void> {
  const store = findStore(this);
  const texts = await (await import('../../../search/sessions/check-texts.ts')).checkTexts(store);
  const examination = await examineStore(store, progressOf(this, 'checking'));
  const drift = await findDrift(this.machine);
  const hooks = [...findBrokenHooks(this), ...findHookFailures(store)];
  // First, because what is left of a text may be in a cache that is damaged and removed.
  const found = [...texts, ...examination.findings, ...drift.drifted.map(toFinding), ...hooks];
  const findings = flags.fix
    ? fixFindings(store, found)
    : found.map((finding) => ({ ...finding, fixed: false }));
  const seen = { ...examination, transcripts: drift.looked };
  if (flags.json) this.out.json(toJson(seen, findings));
  else print(this.out, seen, findings);
  const open = findings.some((finding) => finding.level === 'damage' && !finding.fixed);
  this.process.exitCode = open ? EXIT.data : EXIT.done;
}

interface Seen extends Examination {
  /** Of agents, that were read to see whether they still are understood. */
  transcripts: number;
}

function toJson(seen: Seen, findings: readonly FixedFinding[]): unknown {
  return {
    ...seen,
    findings: findings.map(({ remedy, ...finding }) => ({ ...finding, remedy: remedy?.description ?? null })),
  };
}

const LOOKS: Record<Level, (text: string) => Styled> = { damage: red, warning: yellow, notice: dim };

function print(out: Output, seen: Seen, findings: readonly FixedFinding[]): void {
  const { root, handovers, intact, journalEntries, sqlite, transcripts } = seen;
  out.line(dim('store    '), root);
  out.line(
    dim('kept     '),
    `${intact} of ${handovers} handovers are whole, ${journalEntries} journal entries`,
  );
  out.line(dim('index    '), sqlite === 'none' ? 'none (no SQLite)' : `SQLite by ${sqlite}`);
  out.line(dim('agents   '), `${transcripts} of their newest transcripts were read`);
  for (const finding of findings) {
    out.line(LOOKS[finding.level](`${finding.level.padEnd(8)} `), finding.message);
    if (finding.fixed) out.line(green('         fixed: '), finding.remedy?.description ?? '');
    else if (finding.remedy !== null)
      out.line(dim(`         handover doctor --fix would ${finding.remedy.description}`));
  }
  if (!findings.some((finding) => finding.level !== 'notice')) out.line(bold('all is well'));
}
