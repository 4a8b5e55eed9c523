import { resolve } from 'node:path';
import { buildCommand, type Command } from '@stricli/core';
import { EXIT, HandoverError } from '../../../errors.ts';
import { findV2Files, isV2File, migrateV2 } from '../../../exchange/legacy/handoff-v2.ts';
import { findSessionHandoffStore, migrateSessionHandoff } from '../../../exchange/legacy/session-handoff.ts';
import type { MigratedRecord } from '../../../exchange/legacy/take-over.ts';
import { adoptWorkspace } from '../../../exchange/legacy/workspace-files.ts';
import { isFolder, pathExists, requireFolder } from '../../../platform/folders.ts';
import { identifyProject } from '../../../platform/project.ts';
import { type CliContext, findStore, refuseBoth } from '../context.ts';
import { bold, dim, green, type Output, red, type Styled } from '../output.ts';

export interface MigrateFlags {
  from?: string;
  project?: string;
  workspace?: string;
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const migrate: Command<CliContext> = buildCommand<MigrateFlags, [], CliContext>({
  func: runMigrate,
  parameters: {
    flags: {
      from: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'A handoffs.json, a V2 envelope, or a folder of these; found by itself if left out',
        placeholder: 'path',
      },
      project: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The project’s folder, for envelopes that do not tell theirs; this one if left out',
        placeholder: 'folder',
      },
      workspace: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Instead, what agent-handover and agent-handoff for Python left in this folder',
        placeholder: 'folder',
      },
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only say what would be done' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Import the store of session-handoff, and the envelopes of handoff V2' },
});

export function runMigrate(this: CliContext, flags: MigrateFlags): void {
  if (flags.workspace !== undefined) {
    adopt(this, flags.workspace, flags);
    return;
  }
  const source = findSource(this, flags);
  const { dryRun } = flags;
  const store = findStore(this);
  const project = resolve(this.machine.cwd, flags.project ?? '.');
  const records = [
    ...(source.records === null ? [] : migrateSessionHandoff(store, source.records, { dryRun })),
    ...migrateV2(store, source.envelopes, { dryRun, project }),
  ];
  if (flags.json) this.out.json({ from: source.from, dry_run: dryRun, records });
  else print(this.out, source.from, records);
  if (records.some((record) => record.outcome === 'refused')) this.process.exitCode = EXIT.data;
}

/** What there is to take over: a store of session-handoff, and envelopes of handoff V2. */
interface Source {
  from: string;
  records: string | null;
  envelopes: string[];
}

function findSource({ machine }: CliContext, flags: MigrateFlags): Source {
  if (flags.from !== undefined) return inspectSource(resolve(machine.cwd, flags.from));
  const records = findSessionHandoffStore(machine);
  const envelopes = findV2Files(identifyProject(flags.project ?? '.', machine).root);
  if (envelopes.length === 0) return { from: records, records, envelopes };
  return { from: machine.cwd, records: pathExists(records) ? records : null, envelopes };
}

function inspectSource(from: string): Source {
  if (!isFolder(from))
    return isV2File(from)
      ? { from, records: null, envelopes: [from] }
      : { from, records: from, envelopes: [] };
  const envelopes = findV2Files(from);
  if (envelopes.length > 0) return { from, records: null, envelopes };
  throw new HandoverError('HANDOVER_NOT_FOUND', `no envelopes of handoff V2 are in ${from}`, {
    hint: 'Give a project, a folder of *_handoff.json files, or a file: handover migrate --from PATH',
  });
}

function adopt(context: CliContext, words: string, { dryRun, json, from }: MigrateFlags): void {
  if (from !== undefined) throw refuseBoth('--from', '--workspace');
  const folder = requireFolder(resolve(context.machine.cwd, words));
  const files = adoptWorkspace(findStore(context), folder, { dryRun });
  if (json) context.out.json({ workspace: folder, dry_run: dryRun, files });
  for (const { path, outcome, note } of json ? [] : files) {
    const look = outcome === 'refused' ? red : green;
    context.out.line(look(outcome.padEnd(11)), path, note === null ? '' : dim(`  (${note})`));
  }
  if (files.length === 0 && !json) context.out.line('nothing of the older tools is there');
  if (files.some(({ outcome }) => outcome === 'refused')) context.process.exitCode = EXIT.data;
}

const LOOKS: Record<MigratedRecord['outcome'], (text: string) => Styled> = {
  imported: green,
  'would import': green,
  present: dim,
  refused: red,
};

function print(out: Output, from: string, records: readonly MigratedRecord[]): void {
  for (const record of records) {
    const id = record.id === null ? `record ${record.position}` : record.id;
    out.line(
      LOOKS[record.outcome](record.outcome.padEnd(13)),
      bold(id),
      record.note === null ? '' : `  ${record.note}`,
      record.file === from ? '' : dim(`  (${record.file})`),
    );
  }
  const count = (outcome: string): number => records.filter((record) => record.outcome === outcome).length;
  const taken = count('imported') + count('would import');
  out.line(
    `${taken} taken over, ${count('present')} already here, ${count('refused')} refused`,
    dim(`  (${from} is unchanged)`),
  );
}
