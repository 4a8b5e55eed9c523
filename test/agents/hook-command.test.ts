import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatHookCommand, parseHookCommand } from '../../src/agents/hook-setup.ts';

const anyFolder = fc
  .oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('my node', '$HOME', '`x`', 'a"b', 'back\\slash', "it's", '*'))
  .filter((text) => text.isWellFormed() && !text.includes('\0'))
  .map((text) => `/x${text}`);

describe('the command of a hook', () => {
  it('is recognised as ours, with the program it starts', () => {
    fc.assert(
      fc.property(anyFolder, anyFolder, (node, folder) => {
        const launcher = { node, script: `${folder}/bin/hook.cjs` };
        const command = formatHookCommand(launcher, { agent: 'codex', event: 'Stop' });
        expect(parseHookCommand(command, 'codex')).toEqual(launcher);
        expect(parseHookCommand(`${command} --more`, 'codex')).toEqual(launcher);
        expect(parseHookCommand(command, 'qwen')).toBeNull();
      }),
    );
  });

  it('gives a shell exactly these arguments, whatever the paths', () => {
    fc.assert(
      fc.property(anyFolder, (folder) => {
        const launcher = { node: 'printf', script: `${folder}/bin/hook.cjs` };
        const command = formatHookCommand(launcher, { agent: 'codex', event: 'Stop' });
        const printed = execFileSync('/bin/sh', ['-c', command.replace('"printf"', "printf '%s|'")], {
          encoding: 'utf8',
        });
        expect(printed).toBe(`${launcher.script}|codex|Stop|`);
      }),
      { numRuns: 40 },
    );
  });

  it('is not confused with other commands', () => {
    for (const other of [
      'node hook.cjs codex Stop',
      '"/usr/bin/node" "/x/bin/hook.cjs"',
      '"/usr/bin/node" "/x/hook.cjs" codex Stop',
      '"/usr/bin/node" "/x/bin/hook.cjs" codexx Stop',
      'echo "/usr/bin/node" "/x/bin/hook.cjs" codex Stop',
      '"/usr/bin/node" "/x/bin/hook.cjs" codex Stop; rm -r x',
    ]) {
      expect(parseHookCommand(other, 'codex'), other).toBeNull();
    }
  });
});
