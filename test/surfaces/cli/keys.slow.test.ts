import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSandbox } from '../../support/cli.ts';

interface Listed {
  own: { name: string } | null;
  keys: { name: string; state: string; public_key: string; fingerprint: string }[];
}

describe('handover keys', () => {
  it('lets one of many concurrent processes generate the keys, and they match', async () => {
    const sandbox = makeSandbox();
    const results = await Promise.all(
      Array.from({ length: 6 }, () => sandbox.run(['keys', 'generate', '--name', 'alice', '--json'])),
    );
    const [made, ...others] = results.filter(({ status }) => status === 0);
    expect(others).toEqual([]);
    const { public_key, recipient }: Record<string, string> = JSON.parse(made?.stdout ?? '{}');
    expect(await sandbox.json(['keys', 'export'])).toMatchObject({ public_key, recipient });
    const file = readFileSync(join(sandbox.home, '.config/agent-handover/keys/signing.pub'), 'utf8');
    expect(file).toContain(public_key);
    expect((await sandbox.json<Listed>(['keys', 'list'])).keys).toMatchObject([{ public_key }]);
  });
});
