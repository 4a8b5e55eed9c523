/** ASCII only, so that no name looks like another. `none` stands for nobody. */
const SIGNER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._@+-]{0,62}[A-Za-z0-9._@+-])?$/;

export function isSignerName(text: string): boolean {
  return SIGNER_NAME.test(text) && text.toLowerCase() !== 'none';
}
