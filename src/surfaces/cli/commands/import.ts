import { resolve } from 'node:path';
import { findStore } from '../../../app/context.ts';
import { bold, dim, green, yellow } from '../../../app/describe/styled-text.ts';
import { HandoverError, usageError } from '../../../errors.ts';
import { readIdentities } from '../../../exchange/bundle/age.ts';
import { MAX_BUNDLE_BYTES } from '../../../exchange/bundle/archive.ts';
import { type Import, importBundle } from '../../../exchange/bundle/import-bundle.ts';
import { fingerprint, formatPublicKey, isSameKey, readPublicKey } from '../../../exchange/bundle/minisign.ts';
import { readOwnKeys } from '../../../exchange/bundle/own-keys.ts';
import { type SignerIdentity, trustKey, unknownSignerError } from '../../../exchange/bundle/trust-list.ts';
import { countNouns } from '../../../model/text.ts';
import { readHead } from '../../../platform/external-file.ts';
import { describePlace } from '../../../platform/project.ts';
import { readDescriptor, readPath } from '../../../platform/streams.ts';
import { prepareRedactors } from '../../../redact/open-redactor.ts';
import type { CliContext } from '../context.ts';
import {
  choice,
  command,
  conflictError,
  dryRun,
  type FlagValues,
  json,
  optionalArgument,
  text,
  toggle,
  tuple,
} from '../flags.ts';
import type { Output } from '../output.ts';
import { passphraseFlags, readPassphrase } from '../passphrase.ts';

const flags = {
  input: text('The bundle; - reads standard input', 'file'),
  onConflict: choice(['fail', 'skip', 'replace'], 'fail', 'What to do when a different handover has the same id'),
  trust: text('The sender’s public key, or its file: trusted from now on', 'key'),
  identity: text('A file with an age identity that opens the bundle; default: your own key', 'file'),
  ...passphraseFlags,
  allowUnsigned: toggle('Accept a bundle that nobody vouches for'),
  allowOlder: toggle('Accept a bundle that is not newer than the last one'),
  dryRun,
  json,
} as const;
type ImportFlags = FlagValues<typeof flags>;

export const importCommand = command('import', runImport, {
  positional: tuple(optionalArgument('The bundle; - reads standard input', 'file')),
  flags,
});

async function runImport(this: CliContext, values: ImportFlags, file?: string): Promise<void> {
  if (file !== undefined && values.input !== undefined) throw conflictError('a file', '--input');
  const input = file ?? values.input;
  if (input === undefined) throw usageError('no bundle was named', 'Pass its file: handover import FILE');
  const bytes = readBundle(this, input);
  const wiped: Buffer[] = [];
  /** What is missing for more than a dry run. */
  const needs: string[] = [];
  const askPassphrase = async (): Promise<Buffer> => {
    const passphrase = await readPassphrase(this, values);
    wiped.push(passphrase);
    return passphrase;
  };
  try {
    const done = await importBundle(findStore(this), bytes, {
      machine: this.machine,
      opener: { identities: findIdentities(this, values.identity), askPassphrase },
      confirmSigner: async (signer) => {
        if (!values.dryRun || values.trust !== undefined) return await confirmSigner(this, values, signer);
        needs.push(`trust in its key: handover keys trust ${formatPublicKey(signer.key)} --name "${signer.name}"`);
      },
      makeRedactor: prepareRedactors(this.machine, { folder: null, makesKey: !values.dryRun }),
      allowUnsigned: values.allowUnsigned || values.dryRun,
      allowOlder: values.allowOlder,
      onConflict: values.onConflict,
      dryRun: values.dryRun,
    });
    if (done.signer === null) warnUnsigned(this, done);
    const { signer, handovers } = done;
    if (signer === null && !values.allowUnsigned) needs.push('--allow-unsigned');
    if (handovers.some(({ outcome }) => outcome === 'conflict')) needs.push('--on-conflict skip, or replace');
    if (values.json) this.out.json({ dry_run: values.dryRun, signer, handovers, needs });
    else print(this.out, done, { isDryRun: values.dryRun, next: await suggestNext(this, handovers) });
    if (!values.json && needs.length > 0) this.out.line(yellow('the import itself needs '), needs.join(', and '));
  } finally {
    for (const passphrase of wiped) passphrase.fill(0);
  }
}

function readBundle({ machine }: CliContext, input: string): Buffer {
  const path = resolve(machine.cwd, input);
  const bytes = input === '-' ? readDescriptor(0, MAX_BUNDLE_BYTES) : readPath(path, MAX_BUNDLE_BYTES);
  if (bytes !== null) return bytes;
  throw tooLargeError();
}

function tooLargeError(): HandoverError {
  const hint = 'Nothing was imported. Ask the sender to export fewer handovers at once.';
  return new HandoverError('HANDOVER_BUNDLE_INVALID', `the bundle is larger than ${MAX_BUNDLE_BYTES} bytes`, { hint });
}

const MAX_IDENTITY_BYTES = 64 * 1024;

function findIdentities({ machine }: CliContext, file: string | undefined): string[] {
  if (file === undefined) {
    const own = readOwnKeys(machine);
    return own === null ? [] : [own.identity];
  }
  const bytes = readPath(resolve(machine.cwd, file), MAX_IDENTITY_BYTES);
  const identities = readIdentities(bytes?.toString('utf8') ?? '');
  if (identities.length > 0) return identities;
  const hint = 'Pass the file that age-keygen wrote: it has a line AGE-SECRET-KEY-1…';
  throw new HandoverError('HANDOVER_KEY_MISSING', 'there is no age identity in this file', { hint });
}

/** A key seen for the first time is trusted by --trust, or by the person at the terminal. */
async function confirmSigner(context: CliContext, values: ImportFlags, signer: SignerIdentity): Promise<void> {
  const { machine, err } = context;
  if (values.trust !== undefined) {
    const head = readHead(resolve(machine.cwd, values.trust), MAX_IDENTITY_BYTES);
    const key = readPublicKey(head?.bytes.toString('utf8') ?? values.trust);
    if (!isSameKey(key, signer.key)) throw unknownSignerError(signer);
  } else {
    if (!context.interactive || values.json) throw unknownSignerError(signer);
    err.line(yellow('new signer: '), bold(signer.name));
    err.line(dim('fingerprint '), fingerprint(signer.key));
    const { askYesNo } = await import('../prompts.ts');
    const question = 'Did the sender tell you this fingerprint? Trust this key from now on?';
    if (!(await askYesNo(question, false))) throw unknownSignerError(signer);
  }
  if (!values.dryRun) trustKey(machine, signer.key, signer.name);
}

function warnUnsigned({ err }: CliContext, { missing }: Import): void {
  err.line(yellow('WARNING: '), bold('nobody vouches for this bundle.'), ` It lacks ${missing.join(' and ')}.`);
  err.line('  Anybody could have written it, or changed it on the way. It is marked as unsigned.');
}

/** What to type next: `resume` finds a handover of this project that is newer than those here. */
async function suggestNext(context: CliContext, handovers: Import['handovers']): Promise<string> {
  const { findNewestHere } = await import('../../../app/find-handover.ts');
  const place = describePlace('.', context.machine);
  const quiet = { machine: context.machine, notify: () => undefined, progress: () => undefined };
  const newest = await findNewestHere(quiet, place, { imports: true });
  if (handovers.some(({ id }) => id === newest?.id))
    return 'go on with it: handover resume; in an agent: handover to AGENT';
  const id = handovers.at(-1)?.id ?? '';
  return `read it: handover show ${id}; go on with it: handover to AGENT --from ${id}`;
}

const WORDINGS = {
  imported: { done: 'imported', planned: 'would be imported', style: green },
  replaced: { done: 'replaced', planned: 'would replace yours', style: yellow },
  skipped: { done: 'skipped', planned: 'would be skipped', style: dim },
  present: { done: 'already here', planned: 'is already here', style: dim },
  conflict: { done: 'refused', planned: 'has the id of another one here', style: yellow },
} as const;

function print(
  out: Output,
  { signer, handovers }: Import,
  { isDryRun, next }: { isDryRun: boolean; next: string },
): void {
  for (const { id, title, facts, outcome } of handovers) {
    const { done, planned, style } = WORDINGS[outcome];
    const count = countNouns(facts, 'fact');
    out.line(style(isDryRun ? planned : done), '  ', bold(id), `  ${title}`, dim(`  (${count})`));
  }
  out.line(dim(signer === null ? 'not signed' : `signed by ${signer.name}, key ${signer.key}`));
  if (!isDryRun && handovers.length > 0) out.line(dim(next));
}
