import { bold, dim, green, red, yellow } from '../../../app/describe/styled-text.ts';
import { type Diagnosis, diagnose } from '../../../app/doctor.ts';
import { EXIT } from '../../../errors.ts';
import { countNouns } from '../../../model/text.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, json, toggle } from '../flags.ts';
import type { Output } from '../output.ts';

const flags = { fix: toggle('Repair what can be repaired safely'), json };

export const doctor = command('doctor', runDoctor, { flags });

/** Exit status 65 while something is damaged and not repaired. */
async function runDoctor(this: CliContext, values: FlagValues<typeof flags>): Promise<void> {
  const diagnosis = await diagnose(this, values.fix);
  if (values.json) this.out.json(toJson(diagnosis));
  else print(this.out, diagnosis);
  const isDamaged = diagnosis.findings.some(({ level, fixed }) => level === 'damage' && !fixed);
  this.process.exitCode = isDamaged ? EXIT.data : EXIT.done;
}

function toJson({ examined, findings }: Diagnosis): unknown {
  const shown = findings.map(({ remedy, ...finding }) => ({ ...finding, remedy: remedy?.description ?? null }));
  const { journalEntries, ...counted } = examined;
  return { ...counted, journal_entries: journalEntries, findings: shown };
}

const STYLES = { damage: red, warning: yellow, notice: dim } as const;

function print(out: Output, { examined, findings }: Diagnosis): void {
  const { root, handovers, intact, newer, journalEntries, sqlite, transcripts, hooks } = examined;
  out.line(dim('store    '), root);
  const apart = newer === 0 ? '' : `, ${newer} written by a newer version`;
  out.line(
    dim('content  '),
    `${intact} of ${handovers} handovers intact${apart}, ${countNouns(journalEntries, 'journal entry')}`,
  );
  out.line(dim('index    '), sqlite === 'none' ? 'none (no SQLite)' : `SQLite (${sqlite})`);
  out.line(
    dim('agents   '),
    transcripts === 0 ? 'no transcripts found' : `${countNouns(transcripts, 'recent transcript')} read`,
  );
  out.line(
    dim('hooks    '),
    hooks.length === 0 ? 'none, so nothing is kept by itself: handover init' : hooks.join(', '),
  );
  for (const { level, message, fixed, remedy } of findings) {
    out.line(STYLES[level](`${level.padEnd(8)} `), message);
    if (fixed) out.line(green('         fixed: '), remedy?.description ?? '');
    else if (remedy !== null) out.line(dim(`         handover doctor --fix would ${remedy.description}`));
  }
  if (findings.some(({ level }) => level !== 'notice')) return;
  out.line(bold(hooks.length === 0 ? 'all is well with what is stored' : 'all is well'));
}
