import { resolve } from 'node:path';
import { EXIT } from '../../../errors.ts';
import {
  findSessionHandoffStore,
  type MigratedRecord,
  migrateSessionHandoff,
} from '../../../migrate/session-handoff.ts';
import { type CliContext, findStore } from '../context.ts';
import { bold, dim, green, type Output, red, type Styled } from '../output.ts';
import type { MigrateFlags } from './migrate.ts';

export function runMigrate(this: CliContext, flags: MigrateFlags): void {
  const file =
    flags.from === undefined ? findSessionHandoffStore(this.machine) : resolve(this.machine.cwd, flags.from);
  const records = migrateSessionHandoff(findStore(this), file, { dryRun: flags.dryRun });
  if (flags.json) this.out.json({ from: file, dry_run: flags.dryRun, records });
  else print(this.out, file, records);
  if (records.some((record) => record.outcome === 'refused')) this.process.exitCode = EXIT.data;
}

const LOOKS: Record<MigratedRecord['outcome'], (text: string) => Styled> = {
  imported: green,
  'would import': green,
  present: dim,
  refused: red,
};

function print(out: Output, file: string, records: readonly MigratedRecord[]): void {
  for (const record of records) {
    const id = record.id === null ? `record ${record.position}` : record.id;
    out.line(
      LOOKS[record.outcome](record.outcome.padEnd(13)),
      bold(id),
      record.note === null ? '' : `  ${record.note}`,
    );
  }
  const count = (outcome: string): number => records.filter((record) => record.outcome === outcome).length;
  const taken = count('imported') + count('would import');
  out.line(
    `${taken} taken over, ${count('present')} already here, ${count('refused')} refused`,
    dim(`  (${file} is unchanged)`),
  );
}
