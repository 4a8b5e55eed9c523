import { confirm, password } from '@clack/prompts';
import { HandoverError } from '../../errors.ts';

/** Both are drawn on standard error, so that standard output is left to what a command gives. */
export async function askSecret(message: string): Promise<Buffer> {
  const answer = await password({ message, output: process.stderr });
  if (typeof answer === 'string') return Buffer.from(answer);
  throw new HandoverError('HANDOVER_CANCELLED', 'no passphrase was given');
}

export async function askYesNo(message: string): Promise<boolean> {
  return (await confirm({ message, initialValue: false, output: process.stderr })) === true;
}
