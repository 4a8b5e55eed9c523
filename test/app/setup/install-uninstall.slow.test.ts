import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOOK_HOSTS } from '../../../src/agents/hook-hosts.ts';
import { type HookRequest, installHooks, uninstallHooks } from '../../../src/app/setup/change.ts';
import { listHookFiles } from '../../../src/app/setup/targets.ts';
import { openStore } from '../../../src/store/store.ts';
import { makeSandbox } from '../../support/cli.ts';
import { anySettings, anyToml } from '../../support/settings-files.ts';

const BLANK = ['', '{}', '{ }', '{\r\n}', '\uFEFF{}\n', ' \n', '{"hooks":{}}', '{"hooks": { "Stop": [ ] } }\n'];
const MODES = [0o600, 0o644, 0o664];
const ROUNDS = 200;

describe('installing and uninstalling hooks 200 times', () => {
  it('leaves varied settings of all agents as they were, byte by byte', () => {
    const sandbox = makeSandbox();
    const store = openStore(sandbox.machine);
    const launcher = { node: '/usr/bin/node', script: '/opt/agent-handover/bin/hook.cjs' };
    const all: HookRequest = {
      scope: 'user',
      project: sandbox.project,
      launcher,
      withServer: true,
      agents: [],
      dryRun: false,
    };
    const files = HOOK_HOSTS.flatMap((host) => listHookFiles(host, sandbox.machine, all));
    const shared = files.filter((file) => file.kind !== 'whole');
    const texts = new Map(
      shared.map((file, at) => [
        file.path,
        fc.sample(file.kind === 'table' ? anyToml : anySettings(file.form === 'grouped'), {
          numRuns: ROUNDS,
          seed: 20_261_115 + at,
        }),
      ]),
    );
    for (let round = 0; round < ROUNDS; round++) {
      const before = new Map<string, string>();
      // One agent a round, and all of them now and then: every file costs several flushes.
      const wanted = shared.filter((_, at) => round % 20 === 0 || at === round % shared.length);
      const request = { ...all, agents: round % 20 === 0 ? [] : wanted.map(({ agent }) => agent) };
      for (const { path, kind } of wanted) {
        const isBlank = round % 10 === 9 && kind === 'entries';
        const text = isBlank ? BLANK[round % BLANK.length] : texts.get(path)?.[round]?.text;
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text ?? '', { mode: MODES[round % MODES.length] ?? 0o600 });
        before.set(path, `${readFileSync(path, 'latin1')} ${statSync(path).mode}`);
      }
      installHooks(store, request);
      if (round % 3 === 1) installHooks(store, { ...request, launcher: { ...launcher, node: '/opt/node' } });
      for (const { path } of wanted) expect(readFileSync(path, 'utf8')).toContain(dirname(launcher.script));
      uninstallHooks(store, request);
      for (const { path } of wanted) {
        expect(`${readFileSync(path, 'latin1')} ${statSync(path).mode}`).toBe(before.get(path));
      }
      for (const { path, kind } of files) if (kind === 'whole') expect(existsSync(path)).toBe(false);
    }
  }, 120_000);
});
