import { resolve } from 'node:path';
import { buildCommand, type Command } from '@stricli/core';
import { HandoverError } from '../../../errors.ts';
import { readIdentities } from '../../../exchange/bundle/age.ts';
import { MAX_BUNDLE_BYTES } from '../../../exchange/bundle/archive.ts';
import { type Introduction, refuseStranger } from '../../../exchange/bundle/check-signer.ts';
import { type Import, type ImportedHandover, importBundle } from '../../../exchange/bundle/import-bundle.ts';
import { fingerprint, isSameKey } from '../../../exchange/bundle/minisign.ts';
import { readOwnKeys } from '../../../exchange/bundle/own-keys.ts';
import { readPublicKey } from '../../../exchange/bundle/read-key.ts';
import { trustKey } from '../../../exchange/bundle/trust-list.ts';
import { readHead } from '../../../platform/external-file.ts';
import { readDescriptor } from '../../../platform/streams.ts';
import { prepareRedactors } from '../../../redact/open-redactor.ts';
import { type CliContext, findStore } from '../context.ts';
import { countFacts } from '../count-facts.ts';
import { bold, dim, green, type Output, type Styled, yellow } from '../output.ts';
import { type PassphraseFlags, passphraseFlags, readPassphrase } from '../passphrase.ts';

export interface ImportFlags extends PassphraseFlags {
  input: string;
  onConflict: 'fail' | 'skip' | 'replace';
  trust?: string;
  identity?: string;
  allowUnsigned: boolean;
  allowOlder: boolean;
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const importCommand: Command<CliContext> = buildCommand<ImportFlags, [], CliContext>({
  func: runImport,
  parameters: {
    flags: {
      input: {
        kind: 'parsed',
        parse: text,
        brief: 'The bundle; - reads standard input',
        placeholder: 'file',
      },
      onConflict: {
        kind: 'enum',
        values: ['fail', 'skip', 'replace'],
        default: 'fail',
        brief: 'When another handover is kept under an id',
      },
      trust: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The public key of the sender, or its file: trusted from now on',
        placeholder: 'key',
      },
      identity: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'A file with an age identity that opens the bundle (your own key)',
        placeholder: 'file',
      },
      ...passphraseFlags,
      allowUnsigned: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Take what nobody vouches for',
      },
      allowOlder: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Take what is not newer than what came before',
      },
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only say what would be done' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Take in a bundle of handovers, verified' },
});

export async function runImport(this: CliContext, flags: ImportFlags): Promise<void> {
  const bytes = readBundle(this, flags.input);
  const wiped: Buffer[] = [];
  const askPassphrase = async (): Promise<Buffer> => {
    const passphrase = await readPassphrase(this, flags);
    wiped.push(passphrase);
    return passphrase;
  };
  try {
    const done = await importBundle(findStore(this), bytes, {
      machine: this.machine,
      opener: { identities: findIdentities(this, flags.identity), askPassphrase },
      introduce: (stranger) => introduce(this, flags, stranger),
      makeRedactor: prepareRedactors(this.machine, { folder: null, makesKey: !flags.dryRun }),
      allowUnsigned: flags.allowUnsigned,
      allowOlder: flags.allowOlder,
      onConflict: flags.onConflict,
      dryRun: flags.dryRun,
    });
    if (done.signer === null) warnUnsigned(this, done);
    if (flags.json) this.out.json({ dry_run: flags.dryRun, signer: done.signer, handovers: done.handovers });
    else print(this.out, done, flags.dryRun);
  } finally {
    for (const passphrase of wiped) passphrase.fill(0);
  }
}

function readBundle({ machine }: CliContext, input: string): Buffer {
  if (input === '-') {
    const bytes = readDescriptor(0, MAX_BUNDLE_BYTES);
    if (bytes !== null) return bytes;
    throw tooLarge();
  }
  const path = resolve(machine.cwd, input);
  const head = readHead(path, MAX_BUNDLE_BYTES);
  if (head === null) {
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no file ${path}`, {
      hint: 'Give the bundle with --input FILE, or - for standard input.',
    });
  }
  if (head.size > MAX_BUNDLE_BYTES) throw tooLarge();
  return head.bytes;
}

function tooLarge(): HandoverError {
  return new HandoverError('HANDOVER_BUNDLE_INVALID', `a bundle has at most ${MAX_BUNDLE_BYTES} bytes`, {
    hint: 'Nothing was imported. Ask the sender to export fewer at once.',
  });
}

const MAX_IDENTITY_BYTES = 64 * 1024;

function findIdentities({ machine }: CliContext, file: string | undefined): string[] {
  if (file === undefined) {
    const own = readOwnKeys(machine);
    return own === null ? [] : [own.identity];
  }
  const head = readHead(resolve(machine.cwd, file), MAX_IDENTITY_BYTES);
  if (head === null) {
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no file ${resolve(machine.cwd, file)}`, {
      hint: 'Give the file that age-keygen wrote, with --identity FILE',
    });
  }
  const identities = readIdentities(head.bytes.toString('utf8'));
  if (identities.length > 0) return identities;
  throw new HandoverError('HANDOVER_KEY_MISSING', 'there is no age identity in that file', {
    hint: 'Give the file that age-keygen wrote: it has a line AGE-SECRET-KEY-1…',
  });
}

/** A key that is met for the first time: as the user said on the command line, or as a person at the terminal says now. */
async function introduce(context: CliContext, flags: ImportFlags, stranger: Introduction): Promise<void> {
  const { machine, err } = context;
  if (flags.trust !== undefined) {
    const head = readHead(resolve(machine.cwd, flags.trust), MAX_IDENTITY_BYTES);
    const key = readPublicKey(head?.bytes.toString('utf8') ?? flags.trust);
    if (!isSameKey(key, stranger.key)) throw refuseStranger(stranger);
  } else {
    if (!context.interactive || flags.json) throw refuseStranger(stranger);
    err.line(yellow('new signer: '), bold(stranger.name));
    err.line(dim('fingerprint '), fingerprint(stranger.key));
    const { askYesNo } = await import('../ask.ts');
    const agreed = await askYesNo('Did the sender tell you this fingerprint? Trust this key from now on?');
    if (!agreed) throw refuseStranger(stranger);
  }
  if (!flags.dryRun) trustKey(machine, stranger.key, stranger.name);
}

function warnUnsigned({ err }: CliContext, { missing }: Import): void {
  err.line(
    yellow('WARNING: '),
    bold('nobody vouches for this bundle.'),
    ` It has no ${missing.join(' and no ')}.`,
  );
  err.line('  Anybody on its way can have written or changed every word. It is marked as from nobody.');
}

interface Wording {
  done: string;
  planned: string;
  style: (text: string) => Styled;
}

const WORDINGS: Record<ImportedHandover['outcome'], Wording> = {
  imported: { done: 'imported', planned: 'would be imported', style: green },
  replaced: { done: 'replaced', planned: 'would replace yours', style: yellow },
  skipped: { done: 'skipped', planned: 'would be skipped', style: dim },
  present: { done: 'kept before', planned: 'is kept already', style: dim },
};

function print(out: Output, { signer, handovers }: Import, dryRun: boolean): void {
  for (const { id, title, facts, outcome } of handovers) {
    const { done, planned, style } = WORDINGS[outcome];
    out.line(style(dryRun ? planned : done), '  ', bold(id), `  ${title}`, dim(`  (${countFacts(facts)})`));
  }
  out.line(dim(signer === null ? 'signed by nobody' : `signed by ${signer.name}, key ${signer.key}`));
  const [first] = handovers;
  if (!dryRun && first !== undefined) out.line(dim(`read it: handover show ${first.id}`));
}
