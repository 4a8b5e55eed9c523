import { EXIT } from '../../../errors.ts';
import { type Examination, examineStore, fixFindings } from '../../../store/doctor/doctor.ts';
import type { FixedFinding, Level } from '../../../store/doctor/finding.ts';
import { type CliContext, findStore, progressOf } from '../context.ts';
import { bold, dim, green, type Output, red, type Styled, yellow } from '../output.ts';
import type { DoctorFlags } from './doctor.ts';

/** Exit status 65 while something is damaged and not yet dealt with. */
export async function runDoctor(this: CliContext, flags: DoctorFlags): Promise<void> {
  const store = findStore(this);
  const examination = await examineStore(store, progressOf(this, 'checking'));
  const findings = flags.fix
    ? fixFindings(store, examination.findings)
    : examination.findings.map((finding) => ({ ...finding, fixed: false }));
  if (flags.json) this.out.json(toJson(examination, findings));
  else print(this.out, examination, findings);
  const open = findings.some((finding) => finding.level === 'damage' && !finding.fixed);
  this.process.exitCode = open ? EXIT.data : EXIT.done;
}

function toJson(examination: Examination, findings: readonly FixedFinding[]): unknown {
  return {
    ...examination,
    findings: findings.map(({ remedy, ...finding }) => ({ ...finding, remedy: remedy?.description ?? null })),
  };
}

const LOOKS: Record<Level, (text: string) => Styled> = { damage: red, warning: yellow, notice: dim };

function print(out: Output, examination: Examination, findings: readonly FixedFinding[]): void {
  const { root, handovers, intact, journalEntries, sqlite } = examination;
  out.line(dim('store    '), root);
  out.line(
    dim('kept     '),
    `${intact} of ${handovers} handovers are whole, ${journalEntries} journal entries`,
  );
  out.line(dim('index    '), sqlite === 'none' ? 'none (no SQLite)' : `SQLite by ${sqlite}`);
  for (const finding of findings) {
    out.line(LOOKS[finding.level](`${finding.level.padEnd(8)} `), finding.message);
    if (finding.fixed) out.line(green('         fixed: '), finding.remedy?.description ?? '');
    else if (finding.remedy !== null)
      out.line(dim(`         handover doctor --fix would ${finding.remedy.description}`));
  }
  if (!findings.some((finding) => finding.level !== 'notice')) out.line(bold('all is well'));
}
