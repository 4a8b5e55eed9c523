import { join, resolve } from 'node:path';
import { gatherReport, type Report } from '../../../app/ask/report.ts';
import { findStore } from '../../../app/context.ts';
import { gatherDebts } from '../../../app/debt/gather.ts';
import { splitSides } from '../../../app/debt/statistics.ts';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import { assertExportFile } from '../../../app/export.ts';
import { suggestNext } from '../../../app/find-handover.ts';
import { HandoverError, usageError } from '../../../errors.ts';
import { sha256Hex } from '../../../model/hash.ts';
import { countNouns, escapeUnseen } from '../../../model/text.ts';
import { readRegularFile, writeFileDurably } from '../../../platform/durable-file.ts';
import { readHead } from '../../../platform/external-file.ts';
import { pathExists } from '../../../platform/folders.ts';
import { findPackageFolder, openFile } from '../../../platform/processes.ts';
import type { CliContext } from '../context.ts';
import { writeCommand } from '../filters.ts';
import { command, conflictError, type FlagValues, json, text, toggle } from '../flags.ts';
import { askFlags, toScope } from '../questions.ts';

const { project, since } = askFlags;

const flags = {
  output: text('The file to write; - is standard output; default: ~/handover-report.html', 'file'),
  open: toggle('Show it in the browser'),
  project,
  allProjects: toggle('All projects'),
  since,
  force: toggle('Replace a file even if it is not a report, or was changed'),
  json,
} as const;

type ReportFlags = FlagValues<typeof flags>;

export const report = command('report', runReport, { flags });

async function runReport(this: CliContext, values: ReportFlags): Promise<void> {
  const { machine, out } = this;
  const { allProjects: all, open } = values;
  const output = choosePath(this, values);
  if (all && values.project !== undefined) throw conflictError('--all-projects', '--project');
  const scope = await toScope({ ...values, all }, this);
  const { debts } = await gatherDebts(this, { store: findStore(this), scope, limit: DEBTS });
  const debt = debts.length === 0 ? {} : { debt: splitSides(debts) };
  const shown = { ...(await gatherReport(this, scope)), ...debt };
  const page = writePage(shown);
  if (output === null) return void this.stdout.write(page);
  const done = pathExists(output) ? 'replaced ' : 'wrote ';
  writeFileDurably(output, page);
  const opened = open ? await openFile(output, machine) : null;
  const bytes = Buffer.byteLength(page);
  const sessions = shown.sessions.length;
  if (values.json) return out.json({ output, bytes, sessions, handovers: shown.handovers, opened: opened !== null });
  out.line(done, bold(output), dim(`  (${countNouns(sessions, 'session')}, ${Math.ceil(bytes / 1000)} kB)`));
  if (!open) this.err.line(dim(`read it in the browser: ${writeCommand('report', { ...values, open: true })}`));
  if (opened !== null) this.err.line(dim(`asked ${opened} to show it`));
  if (open && opened === null)
    this.notify({ level: 'note', text: 'no program to open it was found', next: `open it in a browser: ${output}` });
  if (sessions > 0) return;
  const wider = all ? undefined : writeCommand('report', { ...values, project: undefined, allProjects: true });
  const next = await suggestNext(findStore(this), { folder: all ? undefined : (values.project ?? '.'), wider });
  this.notify({ level: 'note', text: 'no handovers found', next });
}

/** Sessions whose transcripts are read for what was found out again. */
const DEBTS = 50;

const DEFAULT_NAME = 'handover-report.html';

/** Null for standard output. */
function choosePath({ machine, stdout }: CliContext, { output, open, force, ...values }: ReportFlags): string | null {
  if (output === '-') {
    if (open) throw conflictError('--open', '--output -');
    if (values.json) throw conflictError('--json', '--output -');
    if (!stdout.isTerminal) return null;
    throw usageError('a page is not for a terminal', 'Show it in the browser: handover report --open');
  }
  // Not in the current folder, where it would be committed, nor in a hidden one, which some browsers may not read.
  const path = output === undefined ? join(machine.home ?? machine.cwd, DEFAULT_NAME) : resolve(machine.cwd, output);
  assertExportFile(path);
  if (!force) assertOwnReport(path);
  return path;
}

/** How every page begins, with the digest of the page without it. */
const HEAD = '<!doctype html>\n<html lang="en" data-handover-report';
const SEALED = new RegExp(`^${HEAD}="([0-9a-f]{64})"`);
const MAX_REPORT_BYTES = 256 * 1024 * 1024;

/** Only what this command wrote, and nobody has changed since, may be replaced. */
function assertOwnReport(path: string): void {
  if (readHead(path, 0) === null) return;
  const page = readRegularFile(path, MAX_REPORT_BYTES).toString('utf8');
  const seal = SEALED.exec(page)?.[1];
  if (seal !== undefined && sha256Hex(page.replace(SEALED, HEAD)) === seal) return;
  const what = page.startsWith(HEAD) ? 'is a report that was changed since it was written' : 'is no report';
  throw new HandoverError('HANDOVER_PATH_UNSAFE', `${path} ${what}`, {
    hint: 'Replace it with --force, or choose another file with --output. Nothing was written.',
  });
}

const MAX_TEMPLATE_BYTES = 1024 * 1024;
const DATA = '"__REPORT__"';

/** Without `<`, nothing in the data can close the element that it is in, or open another. */
function writePage(shown: Report): string {
  const path = join(findPackageFolder(), 'dist', 'report', 'page.html');
  const [before = '', after = ''] = readRegularFile(path, MAX_TEMPLATE_BYTES).toString('utf8').split(DATA);
  const page = `${before}${escapeUnseen(JSON.stringify(shown)).replaceAll('<', '\\u003c')}${after}`;
  return page.replace(HEAD, `${HEAD}="${sha256Hex(page)}"`);
}
