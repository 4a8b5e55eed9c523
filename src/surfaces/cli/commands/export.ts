import { dirname, resolve } from 'node:path';
import { buildCommand, type Command } from '@stricli/core';
import { HandoverError } from '../../../errors.ts';
import type { Lock } from '../../../exchange/bundle/age.ts';
import { formatContent } from '../../../exchange/bundle/content.ts';
import { prepareDeparture } from '../../../exchange/bundle/depart.ts';
import { requireSigner } from '../../../exchange/bundle/own-keys.ts';
import { packBundle } from '../../../exchange/bundle/pack.ts';
import type { ViewFormat } from '../../../exchange/bundle/write-view.ts';
import type { Reader } from '../../../handover/brief/reader.ts';
import { FACT_KINDS, type FactKind } from '../../../model/fact.ts';
import type { Handover } from '../../../model/handover.ts';
import { formatTimestamp } from '../../../model/time.ts';
import { measureRegularFile, writeFileDurably } from '../../../platform/durable-file.ts';
import { isFolder } from '../../../platform/folders.ts';
import { prepareRedactors } from '../../../redact/open-redactor.ts';
import { type CliContext, findStore, refuseBoth } from '../context.ts';
import { countFacts } from '../count-facts.ts';
import { bold, dim, type Output, yellow } from '../output.ts';
import { choosePassphrase, isPassphraseGiven, type PassphraseFlags, passphraseFlags } from '../passphrase.ts';
import { pickDepartures } from '../pick-departures.ts';
import { requireReader } from '../readers.ts';
import { parseDuration, parseMoment } from '../words.ts';

const EXPORT_FORMATS = [
  'bundle',
  'markdown',
  'json',
  'session-handoff',
  'v2',
] as const satisfies readonly ExportFormat[];
type ExportFormat = 'bundle' | ViewFormat;

export interface ExportFlags extends PassphraseFlags {
  id?: readonly string[];
  all: boolean;
  since?: string;
  format: ExportFormat;
  target?: string;
  output: string;
  sign: boolean;
  encryptTo?: readonly string[];
  askPassphrase: boolean;
  expires?: string;
  only?: string;
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const exportCommand: Command<CliContext> = buildCommand<ExportFlags, [], CliContext>({
  func: runExport,
  parameters: {
    flags: {
      id: {
        kind: 'parsed',
        parse: text,
        optional: true,
        variadic: true,
        brief: 'Which one: an id, the beginning of one, or latest (the newest of this project)',
        placeholder: 'id',
      },
      all: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'All that were made here, of every project',
      },
      since: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Those of this project from then on: 2h, 7d, 2026-01-31',
        placeholder: 'time',
      },
      format: { kind: 'enum', values: EXPORT_FORMATS, default: 'bundle', brief: 'What to write' },
      target: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'With markdown: the agent that will read it',
        placeholder: 'agent',
      },
      output: {
        kind: 'parsed',
        parse: text,
        default: '-',
        brief: 'The file to write; - is standard output',
        placeholder: 'file',
      },
      sign: { kind: 'boolean', default: false, withNegated: false, brief: 'Sign it with your key' },
      encryptTo: {
        kind: 'parsed',
        parse: text,
        optional: true,
        variadic: true,
        brief: 'Lock it for the owner of this age key',
        placeholder: 'recipient',
      },
      askPassphrase: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Lock it with a passphrase, asked for in the terminal',
      },
      ...passphraseFlags,
      expires: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Nobody imports it later than this: 7d, 2026-12-31',
        placeholder: 'time',
      },
      only: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only facts of these kinds: goal,decision,next',
        placeholder: 'kinds',
      },
      dryRun: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Show what would leave, and write nothing',
      },
      json: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Print JSON about what was written',
      },
    },
  },
  docs: { brief: 'Pack handovers for another machine or person' },
});

export async function runExport(this: CliContext, flags: ExportFlags): Promise<void> {
  assertFitting(flags);
  assertWritable(this, flags);
  const expiresAt = flags.expires === undefined ? null : parseExpiry(flags.expires, this.machine.clock.now());
  const only = flags.only === undefined ? null : parseKinds(flags.only);
  const kept = await pickDepartures(this, flags);
  const { machine } = this;
  const makeRedactor = prepareRedactors(machine, { folder: machine.cwd, makesKey: !flags.dryRun });
  const handovers = kept.map((handover) =>
    prepareDeparture(handover, { machine, only, redactor: makeRedactor() }),
  );
  if (flags.dryRun) await showDeparture(this, flags, handovers);
  else await send(this, flags, { handovers, expiresAt });
}

interface Departure {
  handovers: readonly Handover[];
  expiresAt: string | null;
}

async function send(context: CliContext, flags: ExportFlags, departure: Departure): Promise<void> {
  const lock = await chooseLock(context, flags);
  try {
    const bytes = await write(context, flags, { ...departure, lock });
    if (flags.output === '-') {
      context.stdout.writeBytes(bytes);
      return;
    }
    const path = resolve(context.machine.cwd, flags.output);
    writeFileDurably(path, bytes);
    const told = {
      output: path,
      format: flags.format,
      bytes: bytes.length,
      signed: flags.sign,
      encrypted: lock !== null,
    };
    const ids = departure.handovers.map(({ id }) => id);
    if (flags.json)
      context.out.json({ ...told, handovers: ids, redactions: sumRedactions(departure.handovers) });
    else {
      context.out.line(
        'exported ',
        bold(path),
        dim(`  (${ids.length === 1 ? '1 handover' : `${ids.length} handovers`}, ${bytes.length} bytes)`),
      );
      if (flags.format === 'bundle' && !flags.sign)
        context.err.line(
          yellow('note: '),
          'it is not signed; whoever imports it has to say --allow-unsigned',
        );
    }
  } finally {
    if (lock !== null && 'passphrase' in lock) lock.passphrase.fill(0);
  }
}

async function write(
  context: CliContext,
  flags: ExportFlags,
  { handovers, expiresAt, lock }: Departure & { lock: Lock | null },
): Promise<Buffer> {
  const signer = flags.sign ? requireSigner(context.machine) : null;
  const { format } = flags;
  if (format !== 'bundle') {
    const { writeView } = await import('../../../exchange/bundle/write-view.ts');
    const view = { format, reader: readerOf(flags) };
    return Buffer.from(writeView(handovers, view, { machine: context.machine, signer, lock }));
  }
  const createdAt = formatTimestamp(context.machine.clock.now());
  return await packBundle(findStore(context), handovers, { createdAt, expiresAt, signer, lock });
}

function readerOf({ target }: ExportFlags): Reader {
  return requireReader(target ?? 'generic');
}

/** What was asked for and would not happen is an error: nothing leaves in clear that was to be locked. */
function assertFitting(flags: ExportFlags): void {
  const isLocked = isPassphraseGiven(flags) || flags.askPassphrase;
  const wrong = [
    ['--sign', flags.sign, ['bundle', 'session-handoff']],
    ['a passphrase', isLocked, ['bundle', 'session-handoff']],
    ['--encrypt-to', flags.encryptTo !== undefined, ['bundle']],
    ['--expires', flags.expires !== undefined, ['bundle']],
    ['--target', flags.target !== undefined, ['markdown']],
  ] as const;
  for (const [flag, isGiven, formats] of wrong) {
    if (!isGiven || formats.some((format) => format === flags.format)) continue;
    throw new HandoverError('HANDOVER_USAGE', `${flag} does nothing with --format ${flags.format}`, {
      hint: `It works with --format ${formats.join(' or --format ')}. Nothing was written.`,
    });
  }
  if (isLocked && flags.encryptTo !== undefined) throw refuseBoth('--encrypt-to', 'a passphrase');
  if (flags.json && flags.output === '-' && !flags.dryRun) throw refuseBoth('--json', '--output -');
}

/** A link is not followed, and a terminal is no place for a tar file. */
function assertWritable({ machine, stdout }: CliContext, { output, format, dryRun }: ExportFlags): void {
  if (dryRun) return;
  if (output !== '-') assertFile(resolve(machine.cwd, output));
  else if (format === 'bundle' && stdout.isTerminal) {
    throw new HandoverError('HANDOVER_USAGE', 'a bundle is not text: it cannot be shown in a terminal', {
      hint: 'Write it to a file: --output work.handover. What is in it: --dry-run',
    });
  }
}

function assertFile(path: string): void {
  measureRegularFile(path);
  if (isFolder(dirname(path))) return;
  throw new HandoverError('HANDOVER_NOT_FOUND', `there is no folder ${dirname(path)}`, {
    hint: 'Make it, or give another file with --output. Nothing was written.',
  });
}

async function chooseLock(context: CliContext, flags: ExportFlags): Promise<Lock | null> {
  if (flags.encryptTo !== undefined) return { recipients: flags.encryptTo };
  if (!isPassphraseGiven(flags) && !flags.askPassphrase) return null;
  return { passphrase: await choosePassphrase(context, flags) };
}

function parseExpiry(words: string, now: number): string {
  const length = parseDuration(words);
  const time = length === null ? parseMoment(words, now, 'last') : now + length;
  if (time > now) return formatTimestamp(time);
  throw new HandoverError('HANDOVER_USAGE', 'that is over already', {
    hint: 'Give a time to come, such as 7d.',
  });
}

function parseKinds(words: string): ReadonlySet<FactKind> {
  const kinds = words.split(',').map((word) => {
    const kind = FACT_KINDS.find((known) => known === word.trim());
    if (kind !== undefined) return kind;
    throw new HandoverError('HANDOVER_USAGE', 'that is not a kind of fact', {
      hint: `Give some of: ${FACT_KINDS.join(',')}`,
    });
  });
  return new Set(kinds);
}

function sumRedactions(handovers: readonly Handover[]): number {
  return handovers.reduce(
    (sum, { redactions }) => sum + redactions.reduce((own, { count }) => own + count, 0),
    0,
  );
}

/** On standard output stands what would leave, to the letter, and nothing else. */
async function showDeparture(
  context: CliContext,
  flags: ExportFlags,
  handovers: readonly Handover[],
): Promise<void> {
  const { out, err, machine } = context;
  const isLocked = flags.encryptTo !== undefined || isPassphraseGiven(flags) || flags.askPassphrase;
  if (flags.json) {
    out.json({ dry_run: true, format: flags.format, signed: flags.sign, encrypted: isLocked, handovers });
    return;
  }
  const { format } = flags;
  if (format === 'bundle') out.block(formatContent(handovers).toString('utf8'));
  else {
    const { writeView } = await import('../../../exchange/bundle/write-view.ts');
    out.block(
      writeView(handovers, { format, reader: readerOf(flags) }, { machine, signer: null, lock: null }),
    );
  }
  summarise(
    err,
    handovers,
    `${flags.sign ? 'signed' : 'not signed'}, ${isLocked ? 'locked' : 'readable by anybody'}`,
  );
}

function summarise(err: Output, handovers: readonly Handover[], how: string): void {
  for (const { id, title, facts, redactions } of handovers) {
    const secrets = redactions.map(({ kind, count }) => `${count} ${kind}`).join(', ');
    err.line(
      bold(id),
      `  ${title}`,
      dim(`  (${countFacts(facts.length)}${secrets === '' ? '' : `; taken out: ${secrets}`})`),
    );
  }
  err.line(dim(`this would leave, ${how}; nothing was written`));
}
