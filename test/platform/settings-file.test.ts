import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { HandoverError } from '../../src/errors.ts';
import { describeMachine } from '../../src/platform/machine.ts';
import { parseSection, readConfigFile, readProjectConfig, readUserConfig } from '../../src/platform/settings-file.ts';
import { makeTempFolder } from '../support/cli.ts';

const Restore = v.strictObject({ startup: v.optional(v.picklist(['hint', 'brief', 'off']), 'hint') });

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

describe('settings files', () => {
  it('are read from the config home and from the project', () => {
    const home = makeTempFolder();
    write(join(home, '.config/agent-handover/config.toml'), '[restore]\nstartup = "brief"\n');
    write(join(home, 'shop/.agent-handover/config.toml'), '[restore]\nstartup = "off"\n');
    const machine = { ...describeMachine({ HOME: home }, home), platform: 'linux' as const };
    expect(parseSection(readUserConfig(machine), 'restore', Restore)).toEqual({ startup: 'brief' });
    expect(parseSection(readProjectConfig(join(home, 'shop')), 'restore', Restore)).toEqual({
      startup: 'off',
    });
  });

  it('may be missing', () => {
    expect(parseSection(readConfigFile(join(makeTempFolder(), 'none.toml')), 'restore', Restore)).toEqual({
      startup: 'hint',
    });
  });

  it.each([
    ['broken TOML', '[restore\n', /is not TOML at line 1, column/],
    ['a wrong value', '[restore]\nstartup = "always"\n', /wrong value: restore\.startup: /],
    ['an unknown setting', '[restore]\nstart = "hint"\n', /has restore\.start, which is unknown/],
    ['no section but a value', 'restore = 1\n', /wrong value: restore: /],
    ['too much', `# ${'x'.repeat(1024 * 1024)}\n`, /is larger than/],
  ])('with %s are refused with their name', (_, text, message) => {
    const path = join(makeTempFolder(), 'config.toml');
    write(path, text);
    expect(() => parseSection(readConfigFile(path), 'restore', Restore)).toThrow(
      expect.objectContaining({ code: 'HANDOVER_CONFIG_INVALID', message: expect.stringMatching(message) }),
    );
  });

  it('of any bytes are either read or refused', () => {
    const path = join(makeTempFolder(), 'config.toml');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.string().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          writeFileSync(path, bytes);
          try {
            readConfigFile(path);
          } catch (error) {
            expect(error).toBeInstanceOf(HandoverError);
          }
        },
      ),
    );
  });
});
