import { resolve } from 'node:path';
import { findStore } from '../../../app/context.ts';
import { bold, dim, green, red } from '../../../app/describe/styled-text.ts';
import { EXIT, HandoverError } from '../../../errors.ts';
import type { MigratedRecord } from '../../../exchange/legacy/import-record.ts';
import { findSessionHandoffStore, migrateSessionHandoff } from '../../../exchange/legacy/session-handoff-store.ts';
import { findV2Files, isV2File, migrateV2 } from '../../../exchange/legacy/v2-files.ts';
import { adoptWorkspace } from '../../../exchange/legacy/workspace-files.ts';
import { isFolder, pathExists, requireFolder } from '../../../platform/folders.ts';
import { identifyProject } from '../../../platform/project.ts';
import type { CliContext } from '../context.ts';
import { command, conflictError, dryRun, type FlagValues, json, text } from '../flags.ts';
import type { Output } from '../output.ts';

const flags = {
  from: text('A handoffs.json, a V2 envelope, or a folder of these; default: found automatically', 'path'),
  project: text('The project’s folder, for envelopes that do not name theirs; default: this one', 'folder'),
  workspace: text('Adopt what agent-handover and agent-handoff for Python left in this folder instead', 'folder'),
  dryRun,
  json,
};
type MigrateFlags = FlagValues<typeof flags>;

export const migrate = command('migrate', runMigrate, { flags });

function runMigrate(this: CliContext, values: MigrateFlags): void {
  if (values.workspace !== undefined) {
    adopt(this, values.workspace, values);
    return;
  }
  const source = findSource(this, values);
  const isDryRun = { dryRun: values.dryRun };
  const store = findStore(this);
  const project = resolve(this.machine.cwd, values.project ?? '.');
  const records = [
    ...(source.records === null ? [] : migrateSessionHandoff(store, source.records, isDryRun)),
    ...migrateV2(store, source.envelopes, { ...isDryRun, project }),
  ];
  if (values.json) this.out.json({ from: source.from, dry_run: values.dryRun, records });
  else print(this.out, source.from, records);
  if (records.some((record) => record.outcome === 'refused')) this.process.exitCode = EXIT.data;
}

/** What to import: a store of session-handoff, and envelopes of handoff V2. */
type Source = { from: string; records: string | null; envelopes: string[] };

function findSource({ machine }: CliContext, { from, project = '.' }: MigrateFlags): Source {
  if (from !== undefined) return inspectSource(resolve(machine.cwd, from));
  const records = findSessionHandoffStore(machine);
  const envelopes = findV2Files(identifyProject(project, machine).root);
  if (envelopes.length === 0) return { from: records, records, envelopes };
  return { from: machine.cwd, records: pathExists(records) ? records : null, envelopes };
}

function inspectSource(from: string): Source {
  if (!isFolder(from))
    return isV2File(from) ? { from, records: null, envelopes: [from] } : { from, records: from, envelopes: [] };
  const envelopes = findV2Files(from);
  if (envelopes.length > 0) return { from, records: null, envelopes };
  const hint = 'Name a project, a folder of *_handoff.json files, or a file: handover migrate --from PATH';
  throw new HandoverError('HANDOVER_NOT_FOUND', `there are no envelopes of handoff V2 in ${from}`, { hint });
}

function adopt(context: CliContext, words: string, values: MigrateFlags): void {
  if (values.from !== undefined) throw conflictError('--from', '--workspace');
  const folder = requireFolder(resolve(context.machine.cwd, words));
  const files = adoptWorkspace(findStore(context), folder, { dryRun: values.dryRun });
  if (values.json) context.out.json({ workspace: folder, dry_run: values.dryRun, files });
  for (const { path, outcome, note } of values.json ? [] : files) {
    const look = outcome === 'refused' ? red : green;
    context.out.line(look(outcome.padEnd(11)), path, note === null ? '' : dim(`  (${note})`));
  }
  if (files.length === 0 && !values.json) context.out.line('nothing from older tools was found');
  if (files.some(({ outcome }) => outcome === 'refused')) context.process.exitCode = EXIT.data;
}

const STYLES = { imported: green, 'would import': green, present: dim, refused: red } as const;

function print(out: Output, from: string, records: readonly MigratedRecord[]): void {
  for (const record of records) {
    const id = record.id === null ? `record ${record.position}` : record.id;
    out.line(
      STYLES[record.outcome](record.outcome.padEnd(13)),
      bold(id),
      record.note === null ? '' : `  ${record.note}`,
      record.file === from ? '' : dim(`  (${record.file})`),
    );
  }
  const count = (outcome: string): number => records.filter((record) => record.outcome === outcome).length;
  const taken = count('imported') + count('would import');
  out.line(
    `${taken} imported, ${count('present')} already here, ${count('refused')} refused`,
    dim(`  (${from} is unchanged)`),
  );
}
