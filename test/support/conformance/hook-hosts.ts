import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { HOOK_EVENTS } from '../../../src/agents/hook-input.ts';
import { type HookFile, type HookHost, holdsHooks, holdsServer } from '../../../src/agents/hook-setup.ts';
import { type HookRequest, installHooks, uninstallHooks } from '../../../src/app/setup/change.ts';
import { readHookStatus } from '../../../src/app/setup/status.ts';
import { listHookFiles } from '../../../src/app/setup/targets.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { makeSandbox, makeTempFolder, type Sandbox } from '../cli.ts';
import { snapshotTree } from '../tree.ts';

/** Settings that a user of any of the agents could have. */
const SETTINGS = `\uFEFF{\r
\t// mine\r
\t"theme": "dark", /* for the eyes */\r
\t"hooks": {\r
\t\t"Notification": [{ "hooks": [{ "type": "command", "command": "bell" }] }],\r
\t},\r
}`;

/** What holds for the hooks of every agent. */
export function describeHookHost(host: HookHost): void {
  describe(`the hooks of ${host.title}`, () => {
    let sandbox: Sandbox;
    let store: Store;
    let request: HookRequest;

    beforeEach(() => {
      sandbox = makeSandbox();
      store = openStore(sandbox.machine);
      request = {
        scope: 'user',
        project: sandbox.project,
        launcher: makeLauncher(),
        withServer: true,
        agents: [host.agent],
        dryRun: false,
      };
    });

    const files = (by: HookRequest = request): HookFile[] => listHookFiles(host, sandbox.machine, by);
    const status = (by: HookRequest = request): ReturnType<typeof readHookStatus>[number] | undefined =>
      readHookStatus(store, by)[0];

    it('are installed where there was no file, and leave nothing when uninstalled', () => {
      const before = listPaths(sandbox.home);
      expect(status()).toMatchObject({ state: 'none', detected: false });
      expect(installHooks(store, request).map(({ change }) => change)).toEqual(files().map(() => 'created'));
      expect(status()).toMatchObject({ state: 'installed', detected: true });
      expect(status()?.files.flatMap(({ missing }) => missing)).toEqual([]);
      uninstallHooks(store, request);
      expect(status()?.state).toBe('none');
      expect(listPaths(sandbox.home)).toEqual(before);
      expect(listPaths(join(sandbox.store, 'installs'))).toEqual([]);
    });

    it('are installed once', () => {
      installHooks(store, request);
      const once = snapshotTree(sandbox.folder, (path) => path.includes('locks'));
      expect(installHooks(store, request).every(({ change }) => change === 'unchanged')).toBe(true);
      expect(snapshotTree(sandbox.folder, (path) => path.includes('locks'))).toEqual(once);
    });

    it('change nothing in a dry run', () => {
      const before = snapshotTree(sandbox.folder);
      expect(installHooks(store, { ...request, dryRun: true })[0]?.change).toBe('created');
      expect(snapshotTree(sandbox.folder)).toEqual(before);
    });

    it('are updated when the program has moved, and still leave nothing', () => {
      const before = listPaths(sandbox.home);
      installHooks(store, request);
      const later = { ...request, launcher: makeLauncher() };
      expect(status(later)?.state).toBe('outdated');
      expect(installHooks(store, later).every(({ change }) => change === 'changed')).toBe(true);
      expect(status(later)?.state).toBe('installed');
      for (const { path } of files()) {
        const text = readFileSync(path, 'utf8');
        expect(text).toContain(dirname(later.launcher.script));
        expect(text).not.toContain(dirname(request.launcher.script));
      }
      uninstallHooks(store, later);
      expect(listPaths(sandbox.home)).toEqual(before);
    });

    it('are reported when their program is missing', () => {
      installHooks(store, { ...request, launcher: { node: '/gone/node', script: '/gone/bin/hook.cjs' } });
      const missing = new Set(status()?.files.flatMap((file) => file.missing));
      expect(missing).toEqual(new Set(['/gone/node', '/gone/bin/hook.cjs', '/gone/bin/handover.cjs']));
    });

    it('can be installed for one project, inside the project', () => {
      const inProject: HookRequest = { ...request, scope: 'project' };
      const before = listPaths(sandbox.folder).filter((path) => !path.startsWith('store'));
      installHooks(store, inProject);
      expect(status(inProject)?.state).toBe('installed');
      expect(files(inProject).every(({ path }) => path.startsWith(sandbox.project))).toBe(true);
      expect(listPaths(sandbox.home)).toEqual([]);
      uninstallHooks(store, inProject);
      expect(listPaths(sandbox.folder).filter((path) => !path.startsWith('store'))).toEqual(before);
    });

    it('do not follow a link out of the project', () => {
      symlinkSync(makeTempFolder(), join(sandbox.project, host.projectFolder));
      expect(() => installHooks(store, { ...request, scope: 'project' })).toThrow(
        expect.objectContaining({ code: 'HANDOVER_PATH_UNSAFE' }),
      );
    });

    it('have a backup that only the user can read', () => {
      installHooks(store, request);
      const kept = listPaths(join(sandbox.store, 'installs'));
      expect(kept).toHaveLength(files().length);
      for (const name of kept) expect(statSync(join(sandbox.store, 'installs', name)).mode & 0o777).toBe(0o600);
    });

    it('can be installed without the MCP server, and are uninstalled with it', () => {
      const without = { ...request, withServer: false };
      installHooks(store, without);
      expect(status()).toMatchObject({ state: 'installed', server: 'none' });
      expect(installHooks(store, request).some(({ change }) => change !== 'unchanged')).toBe(true);
      expect(status()).toMatchObject({ state: 'installed', server: 'installed' });
      installHooks(store, without);
      expect(status()?.server).toBe('installed');
      uninstallHooks(store, request);
      expect(status()).toMatchObject({ state: 'none', server: 'none' });
    });

    it('leave another server of the same name alone', () => {
      const file = serverFile(files());
      const other = printServer(file, 'somebody-else');
      mkdirSync(dirname(file.path), { recursive: true });
      writeFileSync(file.path, other);
      expect(() => installHooks(store, request)).toThrow(expect.objectContaining({ code: 'HANDOVER_PATH_UNSAFE' }));
      expect(status()?.server).toBe('none');
      uninstallHooks(store, request);
      expect(readFileSync(file.path, 'utf8')).toBe(other);
      expect(installHooks(store, { ...request, withServer: false }).length).toBeGreaterThan(0);
    });

    it('leave what the user added to the server, and bring the rest up to date', () => {
      const file = serverFile(files());
      installHooks(store, request);
      const added = file.kind === 'table' ? ['args =', 'mine = 1\nargs ='] : ['"args":', '"mine": 1, "args":'];
      const text = readFileSync(file.path, 'utf8');
      const [from = '', to = ''] =
        text.includes('"args":') || file.kind === 'table' ? added : ['"type":', '"mine": 1, "type":'];
      writeFileSync(file.path, text.replace(from, to));
      expect(status()?.server).toBe('installed');
      const later = { ...request, launcher: makeLauncher() };
      expect(status(later)?.server).toBe('outdated');
      installHooks(store, later);
      expect(status(later)?.server).toBe('installed');
      expect(readFileSync(file.path, 'utf8')).toMatch(/mine"?\s*[:=] 1/);
      uninstallHooks(store, later);
      expect(status(later)?.server).toBe('none');
    });

    if (hasSharedFile(host)) {
      it('are installed and uninstalled with every byte, mode and link of the file restored', () => {
        const path = writeSettings(files());
        const real = join(makeTempFolder(), 'dotfile.json');
        renameSync(path, real);
        chmodSync(real, 0o640);
        symlinkSync(real, path);
        installHooks(store, request);
        expect(status()?.state).toBe('installed');
        expect(readFileSync(real, 'utf8')).toContain('hook.cjs');
        uninstallHooks(store, request);
        expect(lstatSync(path).isSymbolicLink()).toBe(true);
        expect(statSync(real).mode & 0o777).toBe(0o640);
        expect(readFileSync(real, 'utf8')).toBe(SETTINGS);
      });

      it.runIf(process.getuid?.() === 0)('keep the owner of the file', () => {
        const path = writeSettings(files());
        chownSync(path, 12_345, 12_346);
        installHooks(store, request);
        expect(statSync(path)).toMatchObject({ uid: 12_345, gid: 12_346 });
        uninstallHooks(store, request);
        expect(statSync(path)).toMatchObject({ uid: 12_345, gid: 12_346 });
      });

      it('keep changes made after installing', () => {
        const path = writeSettings(files());
        const edit = (text: string): string => text.replace('"dark"', '"light", "new": [1]');
        installHooks(store, request);
        writeFileSync(path, edit(readFileSync(path, 'utf8')));
        uninstallHooks(store, request);
        expect(readFileSync(path, 'utf8')).toBe(edit(SETTINGS));
      });

      it('are uninstalled without their backup too', () => {
        const path = writeSettings(files());
        installHooks(store, request);
        rmSync(join(sandbox.store, 'installs'), { recursive: true });
        uninstallHooks(store, request);
        expect(readFileSync(path, 'utf8')).toBe(SETTINGS);
      });

      it('never restore a damaged backup', () => {
        const path = writeSettings(files());
        installHooks(store, request);
        for (const name of readdirSync(join(sandbox.store, 'installs'))) {
          const receipt = join(sandbox.store, 'installs', name);
          const sealed = JSON.parse(readFileSync(receipt, 'utf8'));
          writeFileSync(receipt, JSON.stringify({ ...sealed, before: Buffer.from('{}').toString('base64') }));
        }
        uninstallHooks(store, request);
        expect(readFileSync(path, 'utf8')).toBe(SETTINGS);
      });

      it('are refused for a broken file with its line, and nothing is written', () => {
        const path = writeSettings(files(), SETTINGS.replace('"dark",', '"dark"'));
        const before = snapshotTree(sandbox.home);
        expect(() => installHooks(store, request)).toThrow(
          expect.objectContaining({
            code: 'HANDOVER_JSON_INVALID',
            message: `${path} cannot be read at line 4, column 2: comma expected`,
          }),
        );
        expect(status()).toMatchObject({ state: 'unreadable' });
        expect(uninstallHooks(store, request).every(({ change }) => change === 'unchanged')).toBe(true);
        expect(snapshotTree(sandbox.home)).toEqual(before);
      });

      it('are refused where the settings have something else in their place', () => {
        for (const settings of ['{"hooks": []}', `{"hooks": {"${firstEvent(host)}": {}}}`, '[]', '// only\n']) {
          const path = writeSettings(files(), settings);
          expect(() => installHooks(store, request), settings).toThrow(
            expect.objectContaining({ code: 'HANDOVER_JSON_INVALID' }),
          );
          expect(readFileSync(path, 'utf8')).toBe(settings);
        }
      });

      it('fill an empty file, and leave it empty', () => {
        for (const blank of ['', '\uFEFF', ' \r\n', '{}', '{\n}\n', '{ /* none yet */ }']) {
          const path = writeSettings(files(), blank);
          installHooks(store, request);
          expect(status()?.state).toBe('installed');
          uninstallHooks(store, request);
          expect(readFileSync(path, 'utf8')).toBe(blank);
        }
      });
    } else {
      it('are refused where a file of that name is not ours, which stays unchanged', () => {
        for (const { path } of files().filter(holdsHooks)) {
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, '#!/bin/sh\necho mine\n');
        }
        const before = snapshotTree(sandbox.home);
        expect(() => installHooks(store, request)).toThrow(expect.objectContaining({ code: 'HANDOVER_PATH_UNSAFE' }));
        uninstallHooks(store, request);
        expect(status()?.state).toBe('none');
        expect(snapshotTree(sandbox.home)).toEqual(before);
      });
    }
  });
}

function hasSharedFile(host: HookHost): boolean {
  const place = {
    folder: '/x',
    launcher: { node: '/n', script: '/bin/hook.cjs' },
    platform: 'linux',
    env: {},
  } as const;
  return host.listFiles({ ...place, scope: 'user' }).some((file) => file.kind === 'entries' && holdsHooks(file));
}

function serverFile(files: readonly HookFile[]): HookFile {
  const file = files.find(holdsServer);
  if (file === undefined) throw new Error('no file for the server');
  return file;
}

function printServer(file: HookFile, command: string): string {
  if (file.kind === 'table') return `[mcp_servers.handover]\ncommand = "${command}"\n`;
  const section = file.kind === 'entries' ? (file.server?.section ?? '') : '';
  return JSON.stringify({ [section]: { handover: { command } } });
}

function firstEvent({ agent }: HookHost): string {
  return Object.keys(HOOK_EVENTS[agent])[0] ?? '';
}

/** A Node and a hook entry that are really there. */
function makeLauncher(): HookRequest['launcher'] {
  const folder = join(makeTempFolder(), 'agent-handover', 'bin');
  mkdirSync(folder, { recursive: true });
  const script = join(folder, 'hook.cjs');
  for (const path of [script, join(folder, 'handover.cjs')]) writeFileSync(path, '');
  return { node: process.execPath, script };
}

/** Every path below a folder. */
function listPaths(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

/** Writes settings with a hook of somebody else where the agent has them; returns where. */
function writeSettings(files: readonly HookFile[], text: string = SETTINGS): string {
  const [file] = files;
  if (file === undefined) throw new Error('no file for hooks');
  mkdirSync(dirname(file.path), { recursive: true });
  writeFileSync(file.path, text);
  return file.path;
}
