import { resolve } from 'node:path';
import { parseCount } from '../../app/parse.ts';
import { HandoverError, usageError } from '../../errors.ts';
import { readDescriptor, readPath } from '../../platform/streams.ts';
import type { CliContext } from './context.ts';
import { conflictError, type FlagValues, text } from './flags.ts';

/** Ways to give a passphrase that no other user can see: never as an argument, never in a variable. */
export const passphraseFlags = {
  passphraseFile: text('Read the passphrase from the first line of this file', 'file'),
  passphraseFd: text('Read the passphrase from this descriptor', 'number'),
} as const;

type PassphraseFlags = FlagValues<typeof passphraseFlags>;

const MAX_BYTES = 4096;
const MIN_LENGTH = 10;
const HOW_TO_GIVE = 'Pass it with --passphrase-file FILE or --passphrase-fd NUMBER';

export function isPassphraseGiven({ passphraseFile, passphraseFd }: PassphraseFlags): boolean {
  return passphraseFile !== undefined || passphraseFd !== undefined;
}

/** The passphrase that opens a bundle: from the flags, else from the person at the terminal. */
export async function readPassphrase(context: CliContext, flags: PassphraseFlags): Promise<Buffer> {
  const given = readGiven(context, flags);
  if (given !== null) return given;
  if (!context.interactive) {
    const message = 'the bundle needs a passphrase, and there is no terminal to ask for it';
    throw new HandoverError('HANDOVER_BUNDLE_LOCKED', message, { hint: HOW_TO_GIVE });
  }
  const { askSecret } = await import('./prompts.ts');
  return await askSecret('Passphrase of the bundle');
}

/** A new passphrase: long enough, and typed twice at a terminal. */
export async function choosePassphrase(context: CliContext, flags: PassphraseFlags): Promise<Buffer> {
  const passphrase = readGiven(context, flags) ?? (await askTwice(context));
  if (passphrase.toString('utf8').length >= MIN_LENGTH) return passphrase;
  throw usageError(`the passphrase is shorter than ${MIN_LENGTH} characters`, 'Use a few random words.');
}

async function askTwice(context: CliContext): Promise<Buffer> {
  if (!context.interactive) throw usageError('there is no terminal to ask for the passphrase', HOW_TO_GIVE);
  const { askSecret } = await import('./prompts.ts');
  const first = await askSecret('Passphrase to encrypt the bundle with');
  const second = await askSecret('Repeat the passphrase');
  if (first.equals(second)) return first;
  throw usageError('the two passphrases differ', 'Nothing was written. Try again, and type the same passphrase twice.');
}

function readGiven(context: CliContext, { passphraseFile, passphraseFd }: PassphraseFlags): Buffer | null {
  if (passphraseFile !== undefined && passphraseFd !== undefined)
    throw conflictError('--passphrase-file', '--passphrase-fd');
  if (passphraseFile !== undefined) return firstLine(readPath(resolve(context.machine.cwd, passphraseFile), MAX_BYTES));
  if (passphraseFd !== undefined) return firstLine(readDescriptor(parseCount(passphraseFd, 0), MAX_BYTES));
  return null;
}

function firstLine(bytes: Buffer | null): Buffer {
  if (bytes === null)
    throw usageError(
      `the passphrase is longer than ${MAX_BYTES} bytes`,
      'Is it the right file? The passphrase is its first line.',
    );
  const end = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  const line = end === -1 ? bytes : bytes.subarray(0, end);
  if (line.length > 0) return line;
  throw usageError('the passphrase is empty', 'The passphrase is the first line of the input.');
}
