import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HANDOVER, inPairs, makeSandbox, runProcess } from '../../support/cli.ts';
import { describeOnNewerNodes } from '../../support/other-node.ts';

const sandbox = makeSandbox();
const SESSIONS = ['django', 'laravel-spanish', 'powershell-dotfiles'];

/** What a capture prints, without when it was made, and without the marks of secrets: a dry run has no key to keep. */
async function capture(name: string, print: 'brief' | 'json', env = {}, node = process.execPath): Promise<string> {
  const transcript = join(process.cwd(), 'test', 'fixtures', 'sessions', `${name}.jsonl`);
  const args = ['capture', '--transcript', transcript, '--budget', '1500', '--print', print, '--dry-run'];
  const { status, stdout, stderr } = await runProcess([node, HANDOVER, ...args], {
    cwd: sandbox.project,
    env: { ...sandbox.env, ...env },
  });
  if (status !== 0) throw new Error(stderr);
  return stdout
    .replace(/\b\d{8}-\d{6}-[0-9a-z]{4}\b/g, 'ID')
    .replace(/"(?:created_at|checksum)": ?"[^"]*"/g, '"made": ""')
    .replace(/^> from .*$/m, '> from')
    .replace(/(\[redacted:[\w-]+):\w+\]/g, '$1]');
}

describe.each(SESSIONS)('the capture of %s', (name) => {
  it('is the same bytes in every time zone and language', async () => {
    const surroundings = [
      {},
      { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' },
      { TZ: 'America/St_Johns', LC_ALL: 'C' },
      { TZ: 'Asia/Kathmandu', LC_ALL: 'ja_JP.eucJP', LC_COLLATE: 'lt_LT.UTF-8' },
    ];
    for (const print of ['brief', 'json'] as const) {
      const printed = await inPairs(surroundings, (env) => capture(name, print, env));
      expect(printed[0]?.length).toBeGreaterThan(1000);
      expect(new Set(printed).size).toBe(1);
    }
  });
});

describeOnNewerNodes('on Node %i', (node) => {
  it.each(SESSIONS)('the capture of %s is the same bytes as here', async (name) => {
    for (const print of ['brief', 'json'] as const)
      expect(await capture(name, print, {}, node)).toBe(await capture(name, print));
  });
});
