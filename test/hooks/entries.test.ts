import fc from 'fast-check';
import { getNodeValue, type ParseError, parseTree } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import type { EntriesFile } from '../../src/agents/hook-host.ts';
import { HOOK_HOSTS } from '../../src/agents/hook-hosts.ts';
import { addEntries, inspectEntries, removeEntries } from '../../src/hooks/entries.ts';
import { anySettings } from '../support/settings-files.ts';

const launcher = { node: '/opt/my node/bin/node', script: '/home/zoë "z"/$x/agent-handover/bin/hook.cjs' };
const moved = { node: '/usr/bin/node', script: '/elsewhere/bin/hook.cjs' };

function describeFiles(by = launcher): EntriesFile[] {
  return HOOK_HOSTS.flatMap((host) =>
    host
      .listFiles({ scope: 'user', folder: '/home/u/.agent', launcher: by, platform: 'linux' })
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

describe.each(files.map((file) => [file.agent, file] as const))(
  'the hooks of %s in a settings file',
  (agent, file) => {
    const settings = anySettings(file.form === 'grouped');
    const later = describeFiles(moved).find((candidate) => candidate.agent === agent) ?? file;

    it('go in and out again and leave every byte as it was', () => {
      fc.assert(
        fc.property(settings, ({ text }) => {
          const added = addEntries(file, text);
          expect(inspectEntries(file, added)).toMatchObject({ missing: [], differing: [] });
          expect(removeEntries(file, added, text)).toBe(text);
        }),
        { numRuns: 300 },
      );
    });

    it('change nothing of what the file says otherwise', () => {
      fc.assert(
        fc.property(settings, ({ text }) => {
          const { hooks: before, ...rest } = readMembers(text);
          const { hooks: after, ...restAfter } = readMembers(addEntries(file, text));
          expect(JSON.stringify(restAfter)).toBe(JSON.stringify(rest));
          for (const [event, list] of Object.entries(before ?? {})) {
            expect(after?.[event]?.slice(0, list.length)).toEqual(list);
          }
        }),
        { numRuns: 200 },
      );
    });

    it('are added once, and brought up to date where they stand', () => {
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
