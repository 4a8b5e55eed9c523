import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';

let sandbox: Sandbox;
/** Without the programs of the machine that the tests run on. */
const env = { PATH: '/nowhere' };

beforeEach(() => {
  sandbox = makeSandbox();
});

function writeHome(name: string, text: string): string {
  const path = join(sandbox.home, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

describe('handover hooks', () => {
  it('installs for the agents on this machine, and names those that are missing', async () => {
    const settings = writeHome('.claude/settings.json', '{"model":"opus"}\n');
    const printed = await sandbox.ok(['hooks', 'install'], { env });
    expect(printed).toContain(`claude-code  changed  ${settings}  hooks\n`);
    expect(printed).toContain(`claude-code  created  ${join(sandbox.home, '.claude.json')}  mcp\n`);
    expect(printed).toContain('codex        not on this machine\n');
    expect(readdirSync(sandbox.home)).toEqual(['.claude', '.claude.json']);
    await sandbox.ok(['hooks', 'uninstall'], { env });
    expect(readdirSync(sandbox.home)).toEqual(['.claude']);
    expect(readFileSync(settings, 'utf8')).toBe('{"model":"opus"}\n');
  });
});
