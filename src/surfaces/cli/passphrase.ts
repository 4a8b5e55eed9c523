import { resolve } from 'node:path';
import { HandoverError, hasErrno } from '../../errors.ts';
import { readDescriptor, readPath } from '../../platform/streams.ts';
import { type CliContext, refuseBoth } from './context.ts';
import { parseCount } from './words.ts';

/** Ways to hand over a passphrase that no other user can see: never a word of the command line, never a variable. */
export interface PassphraseFlags {
  passphraseFile?: string;
  passphraseFd?: string;
}

const text = (input: string): string => input;

export const passphraseFlags = {
  passphraseFile: {
    kind: 'parsed',
    parse: text,
    optional: true,
    brief: 'Read the passphrase from the first line of this file',
    placeholder: 'file',
  },
  passphraseFd: {
    kind: 'parsed',
    parse: text,
    optional: true,
    brief: 'Read the passphrase from this descriptor',
    placeholder: 'number',
  },
} as const;

const MAX_BYTES = 4096;
const SHORTEST = 10;

export function isPassphraseGiven({ passphraseFile, passphraseFd }: PassphraseFlags): boolean {
  return passphraseFile !== undefined || passphraseFd !== undefined;
}

/** The passphrase that opens a bundle: from where it was said to be, else from the person at the terminal. */
export async function readPassphrase(context: CliContext, flags: PassphraseFlags): Promise<Buffer> {
  const given = readGiven(context, flags);
  if (given !== null) return given;
  if (!context.interactive) {
    throw new HandoverError(
      'HANDOVER_BUNDLE_LOCKED',
      'the bundle wants a passphrase, and there is no terminal to ask in',
      {
        hint: 'Give it with --passphrase-file FILE or --passphrase-fd NUMBER',
      },
    );
  }
  const { askSecret } = await import('./ask.ts');
  return await askSecret('Passphrase of the bundle');
}

/** A passphrase to lock with: long enough, and typed twice where it is typed. */
export async function choosePassphrase(context: CliContext, flags: PassphraseFlags): Promise<Buffer> {
  const passphrase = readGiven(context, flags) ?? (await askTwice(context));
  if (passphrase.toString('utf8').length >= SHORTEST) return passphrase;
  throw new HandoverError('HANDOVER_USAGE', `the passphrase has less than ${SHORTEST} characters`, {
    hint: 'Take a few random words.',
  });
}

async function askTwice(context: CliContext): Promise<Buffer> {
  if (!context.interactive) {
    throw new HandoverError('HANDOVER_USAGE', 'there is no terminal to ask for the passphrase in', {
      hint: 'Give it with --passphrase-file FILE or --passphrase-fd NUMBER',
    });
  }
  const { askSecret } = await import('./ask.ts');
  const first = await askSecret('Passphrase to lock the bundle with');
  const second = await askSecret('The same again');
  if (first.equals(second)) return first;
  throw new HandoverError('HANDOVER_USAGE', 'the two passphrases differ', {
    hint: 'Nothing was written. Call it again, and type the same twice.',
  });
}

function readGiven(context: CliContext, { passphraseFile, passphraseFd }: PassphraseFlags): Buffer | null {
  if (passphraseFile !== undefined && passphraseFd !== undefined)
    throw refuseBoth('--passphrase-file', '--passphrase-fd');
  if (passphraseFile !== undefined) return firstLine(readFile(resolve(context.machine.cwd, passphraseFile)));
  if (passphraseFd !== undefined) return firstLine(readDescriptor(parseCount(passphraseFd, 0), MAX_BYTES));
  return null;
}

function readFile(path: string): Buffer | null {
  try {
    return readPath(path, MAX_BYTES);
  } catch (cause) {
    if (!hasErrno(cause, 'ENOENT', 'ENOTDIR')) throw cause;
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no file ${path}`, {
      hint: 'Give the file with the passphrase, or --passphrase-fd 0 for standard input.',
      cause,
    });
  }
}

function firstLine(bytes: Buffer | null): Buffer {
  if (bytes === null)
    throw new HandoverError('HANDOVER_USAGE', `a passphrase has at most ${MAX_BYTES} bytes`, {
      hint: 'Is it the right file? The passphrase is its first line.',
    });
  const end = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  const line = end === -1 ? bytes : bytes.subarray(0, end);
  if (line.length > 0) return line;
  throw new HandoverError('HANDOVER_USAGE', 'the passphrase is empty', {
    hint: 'It is the first line of what is read.',
  });
}
