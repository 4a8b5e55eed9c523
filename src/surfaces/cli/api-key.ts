import { HandoverError } from '../../errors.ts';
import { API_KEY_VARIABLE } from '../../exchange/publish/memory-vault.ts';

export function refuseKeyOnCommandLine(key: string | undefined): void {
  if (key === undefined) return;
  throw new HandoverError(
    'HANDOVER_USAGE',
    'a key is not taken from the command line, where others can see it',
    {
      hint: `Put it into ${API_KEY_VARIABLE}, or into a file that only you can read: token_file below [publish.memoryvault] in your config.toml.`,
    },
  );
}
