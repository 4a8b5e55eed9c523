import { basename, resolve } from 'node:path';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import * as exporting from '../../../app/export.ts';
import { parseDuration, parseMoment, requireKind, requireReader } from '../../../app/parse.ts';
import { usageError } from '../../../errors.ts';
import type { Encryption } from '../../../exchange/bundle/age.ts';
import type { Handover } from '../../../model/handover.ts';
import { countNouns, quoteForShell } from '../../../model/text.ts';
import { formatTimestamp } from '../../../model/time.ts';
import { writeFileDurably } from '../../../platform/durable-file.ts';
import type { CliContext } from '../context.ts';
import {
  allProjectsFlag,
  choice,
  command,
  conflictError,
  type FlagValues,
  text,
  textOr,
  texts,
  toggle,
} from '../flags.ts';
import { choosePassphrase, isPassphraseGiven, passphraseFlags } from '../passphrase.ts';

const FORMATS: readonly exporting.ExportFormat[] = ['bundle', 'markdown', 'json', 'session-handoff', 'v2'];

const flags = {
  id: texts('An id, its start or end, or latest; default: the newest of this project', 'id'),
  all: toggle('All that were made on this machine, in every project'),
  allProjects: allProjectsFlag,
  since: text('Those of this project since then: yesterday, 7d, 2026-01-31', 'time'),
  format: choice(FORMATS, 'bundle', 'What to write'),
  target: text('With markdown: the agent that will read it', 'agent'),
  output: textOr('-', 'The file to write; - is standard output', 'file'),
  sign: toggle('Sign it with your key'),
  encryptTo: texts('Encrypt it for the owner of this age key', 'recipient'),
  askPassphrase: toggle('Encrypt it with a passphrase, asked for in the terminal'),
  ...passphraseFlags,
  expires: text('The time after which it cannot be imported: 7d, 2026-12-31', 'time'),
  only: text('Only facts of these kinds: goal,decision,next', 'kinds'),
  dryRun: toggle('Show what would be exported, write nothing'),
  json: toggle('Print JSON about what was written'),
};
type ExportFlags = FlagValues<typeof flags>;

export const exportCommand = command('export', runExport, { flags });

async function runExport(this: CliContext, values: ExportFlags): Promise<void> {
  assertFormatSupports(values);
  assertWritable(this, values);
  const { id: ids, all, allProjects, since, dryRun, format, sign } = values;
  const now = this.machine.clock.now();
  const expiresAt = values.expires === undefined ? null : parseExpiry(values.expires, now);
  const only = values.only === undefined ? null : new Set(values.only.split(',').map(requireKind));
  const sinceMs = since === undefined ? undefined : parseMoment(since, now, 'first');
  const handovers = await exporting.selectForExport(this, { ids, all, allProjects, sinceMs, only, dryRun });
  const options = { format, reader: requireReader(values.target ?? 'generic'), sign, expiresAt };
  await (dryRun ? showPreview : send)(this, values, { handovers, options });
}

type Export = { handovers: readonly Handover[]; options: Omit<exporting.ExportOptions, 'encryption'> };

async function send(context: CliContext, values: ExportFlags, { handovers, options }: Export): Promise<void> {
  const encryption = await chooseEncryption(context, values);
  try {
    const bytes = await exporting.writeExport(context, handovers, { ...options, encryption });
    if (values.output === '-') return void context.stdout.writeBytes(bytes);
    const output = resolve(context.machine.cwd, values.output);
    writeFileDurably(output, bytes);
    const { format, sign } = values;
    const ids = handovers.map(({ id }) => id);
    if (values.json) {
      const about = { format, bytes: bytes.length, signed: sign, encrypted: encryption !== null };
      const redactions = handovers.flatMap((each) => each.redactions).reduce((sum, { count }) => sum + count, 0);
      return context.out.json({ output, ...about, handovers: ids, redactions });
    }
    const count = countNouns(ids.length, 'handover');
    context.out.line('exported ', bold(output), dim(`  (${count}, ${bytes.length} bytes)`));
    const how = sign ? '' : ' --allow-unsigned';
    if (format === 'bundle')
      context.err.line(dim(`on the other machine: handover import ${quoteForShell(basename(output))}${how}`));
  } finally {
    if (encryption !== null && 'passphrase' in encryption) encryption.passphrase.fill(0);
  }
}

/** A flag that would have no effect is an error, so that nothing is sent unencrypted by mistake. */
function assertFormatSupports(values: ExportFlags): void {
  const { id, all, since, format, encryptTo } = values;
  if (id !== undefined && all) throw conflictError('--id', '--all');
  if (id !== undefined && since !== undefined) throw conflictError('--id', '--since');
  const hasPassphrase = isPassphraseGiven(values) || values.askPassphrase;
  const wrong = [
    ['--sign', values.sign, ['bundle', 'session-handoff']],
    ['a passphrase', hasPassphrase, ['bundle', 'session-handoff']],
    ['--encrypt-to', encryptTo !== undefined, ['bundle']],
    ['--expires', values.expires !== undefined, ['bundle']],
    ['--target', values.target !== undefined, ['markdown']],
  ] as const;
  for (const [flag, isGiven, formats] of wrong) {
    if (!isGiven || formats.some((known) => known === format)) continue;
    const hint = `It works with --format ${formats.join(' or --format ')}. Nothing was written.`;
    throw usageError(`${flag} has no effect with --format ${format}`, hint);
  }
  if (hasPassphrase && encryptTo !== undefined) throw conflictError('--encrypt-to', 'a passphrase');
  if (values.json && values.output === '-' && !values.dryRun) throw conflictError('--json', '--output -');
}

/** Links are not followed, and a tar file is not written to a terminal. */
function assertWritable({ machine, stdout }: CliContext, { output, format, dryRun }: ExportFlags): void {
  if (dryRun) return;
  if (output !== '-') exporting.assertExportFile(resolve(machine.cwd, output));
  else if (format === 'bundle' && stdout.isTerminal) {
    const hint = 'Write it to a file: --output work.handover. See what is in it: --dry-run';
    throw usageError('a bundle is not text and cannot be shown in a terminal', hint);
  }
}

async function chooseEncryption(context: CliContext, values: ExportFlags): Promise<Encryption | null> {
  if (values.encryptTo !== undefined) return { recipients: values.encryptTo };
  if (!isPassphraseGiven(values) && !values.askPassphrase) return null;
  return { passphrase: await choosePassphrase(context, values) };
}

function parseExpiry(words: string, now: number): string {
  const length = parseDuration(words);
  const time = length === null ? parseMoment(words, now, 'last') : now + length;
  if (time > now) return formatTimestamp(time);
  throw usageError('the expiry time is in the past', 'Use a time in the future, such as 7d.');
}

/** Standard output gets exactly what would be exported, and nothing else. */
async function showPreview(context: CliContext, values: ExportFlags, { handovers, options }: Export): Promise<void> {
  const { out, err } = context;
  const { format, sign } = values;
  const encrypted = values.encryptTo !== undefined || isPassphraseGiven(values) || values.askPassphrase;
  if (values.json) return out.json({ dry_run: true, format, signed: sign, encrypted, handovers });
  out.block(await exporting.previewExport(context, handovers, options));
  for (const { id, title, facts, redactions } of handovers) {
    const count = countNouns(facts.length, 'fact');
    const secrets = redactions.map((redaction) => `${redaction.count} ${redaction.kind}`).join(', ');
    err.line(bold(id), `  ${title}`, dim(`  (${count}${secrets === '' ? '' : `; redacted: ${secrets}`})`));
  }
  const how = `${sign ? 'signed' : 'not signed'}, ${encrypted ? 'encrypted' : 'readable by anybody'}`;
  err.line(dim(`this would be exported, ${how}; nothing was written`));
}
