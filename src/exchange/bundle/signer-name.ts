import { HandoverError } from '../../errors.ts';

/** ASCII only, so that no name looks like another. `none` stands for nobody. */
const SIGNER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._@+-]{0,62}[A-Za-z0-9._@+-])?$/;

export function isSignerName(text: string): boolean {
  return SIGNER_NAME.test(text) && text.toLowerCase() !== 'none';
}

export function assertSignerName(text: string): void {
  if (isSignerName(text)) return;
  throw new HandoverError(
    'HANDOVER_USAGE',
    'the name of a signer has 1 to 64 letters, digits, blanks or ._@+-',
    {
      hint: 'Give one with --name, such as --name alice',
    },
  );
}
