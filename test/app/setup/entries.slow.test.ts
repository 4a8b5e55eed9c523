import { basename } from 'node:path';
import fc from 'fast-check';
import { getNodeValue, type ParseError, parseTree } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { HOOK_HOSTS } from '../../../src/agents/hook-hosts.ts';
import type { EntriesFile } from '../../../src/agents/hook-setup.ts';
import { addEntries, inspectEntries, removeEntries } from '../../../src/app/setup/entries.ts';
import { anySettings } from '../../support/settings-files.ts';

const launcher = { node: '/opt/my node/bin/node', script: '/home/zoë "z"/$x/agent-handover/bin/hook.cjs' };
const moved = { node: '/usr/bin/node', script: '/elsewhere/bin/hook.cjs' };

function describeFiles(by = launcher): EntriesFile[] {
  return HOOK_HOSTS.flatMap((host) =>
    host
      .listFiles({ scope: 'user', folder: '/home/u/.agent', launcher: by, platform: 'linux', env: {} })
      .filter((file) => file.kind === 'entries'),
  );
}

const files = describeFiles();

function readMembers(text: string): { hooks?: Record<string, unknown[]> } {
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return root === undefined ? {} : getNodeValue(root);
}

/** What a file says besides our server. */
function dropServer(file: EntriesFile, members: Record<string, unknown>): unknown {
  const { [file.server?.section ?? '']: servers = {}, ...rest } = members;
  const { handover: _, ...others } = { ...Object(servers) };
  return { rest, others };
}

describe.each(files.map((file) => [`${file.agent} in ${basename(file.path)}`, file] as const))(
  'the hooks and the server of %s',
  (_, file) => {
    const settings = anySettings(file.form === 'grouped');
    const later = describeFiles(moved).find(({ agent, path }) => agent === file.agent && path === file.path) ?? file;

    it('are added and removed, leaving every byte as it was', () => {
      fc.assert(
        fc.property(settings, ({ text }) => {
          const added = addEntries(file, text);
          const server = { state: file.server === null ? 'missing' : 'same' };
          expect(inspectEntries(file, added)).toMatchObject({ missing: [], differing: [], server });
          expect(removeEntries(file, added, text)).toBe(text);
        }),
        { numRuns: 300 },
      );
    });

    it('change nothing else in the file', () => {
      fc.assert(
        fc.property(settings, ({ text }) => {
          const { hooks: before, ...rest } = readMembers(text);
          const { hooks: after, ...restAfter } = readMembers(addEntries(file, text));
          expect(JSON.stringify(dropServer(file, restAfter))).toBe(JSON.stringify(dropServer(file, rest)));
          for (const [event, list] of Object.entries(before ?? {})) {
            expect(after?.[event]?.slice(0, list.length)).toEqual(list);
          }
        }),
        { numRuns: 200 },
      );
    });

    it('are added once, and updated in place', () => {
      fc.assert(
        fc.property(settings, ({ text }) => {
          const added = addEntries(file, text);
          expect(addEntries(file, added)).toBe(added);
          const updated = addEntries(later, added);
          expect(inspectEntries(later, updated)).toMatchObject({
            missing: [],
            differing: [],
            launchers: [...file.handlers].map(() => moved),
          });
          expect(inspectEntries(file, updated).places).toEqual(inspectEntries(file, added).places);
          expect(removeEntries(later, updated, text)).toBe(text);
        }),
        { numRuns: 100 },
      );
    });
  },
);

describe('hook entries that the user edited', () => {
  const [file] = files;
  if (file === undefined) throw new Error('no agent has entries');
  const bell = { type: 'command', command: 'bell' };
  const install = (text: string): { hooks: Record<string, { hooks: unknown[] }[]> } =>
    JSON.parse(addEntries(file, text));

  it('are removed without what the user added around them', () => {
    const { hooks } = install('{}');
    hooks.Stop?.push({ hooks: [bell] });
    hooks.PreCompact?.unshift({ hooks: [bell] });
    hooks.SessionStart?.[0]?.hooks.push(bell);
    hooks.SessionEnd?.[0]?.hooks.unshift(bell);
    const other = [{ hooks: [bell] }];
    for (const indent of [0, 2, '\t']) {
      const rest = removeEntries(file, JSON.stringify({ hooks }, null, indent), null);
      expect(JSON.parse(rest)).toEqual({
        hooks: { SessionStart: other, Stop: other, PreCompact: other, SessionEnd: other },
      });
    }
  });

  it('are deduplicated, and removed from unused events', () => {
    const { hooks } = install('{"a": 1}');
    const [stop] = hooks.Stop ?? [];
    if (stop === undefined) throw new Error('no hook at Stop');
    const doubled = {
      a: 1,
      hooks: { ...hooks, Stop: [stop, { hooks: [bell, ...stop.hooks] }], Notification: [stop] },
    };
    const text = JSON.stringify(doubled, null, 2);
    expect(inspectEntries(file, text).differing).toEqual(['Stop', 'Notification']);
    expect(JSON.parse(addEntries(file, text))).toEqual({
      a: 1,
      hooks: { ...hooks, Stop: [stop, { hooks: [bell] }] },
    });
  });

  it('are found in the effective value when a key occurs twice', () => {
    const text = '{"hooks": {"Stop": []}, "hooks": {"Stop": []}}';
    const added = addEntries(file, text);
    expect(added.startsWith('{"hooks": {"Stop": []}, "hooks": {"Stop": [{')).toBe(true);
    expect(removeEntries(file, added, text)).toBe(text);
  });
});
