import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ProgramOptions, runProgram } from '../../src/platform/processes.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'handover-exec-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function options(changes: Partial<ProgramOptions> = {}): ProgramOptions {
  return {
    cwd: folder,
    env: { PATH: process.env.PATH },
    timeoutMs: 20_000,
    maxBytes: 1024 * 1024,
    ...changes,
  };
}

function runNode(code: string, changes: Partial<ProgramOptions> = {}) {
  return runProgram(process.execPath, ['-e', code], options(changes));
}

function writeScript(path: string, body: string): void {
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
}

describe('runProgram', () => {
  it('passes arguments unchanged, without a shell', () => {
    const args = ['$HOME', '`id`', 'a b', '', '--', '\'"', '*'];
    const { stdout } = runProgram(
      process.execPath,
      ['-e', 'console.log(JSON.stringify(process.argv.slice(1)))', '--', ...args],
      options(),
    );
    expect(JSON.parse(stdout.toString())).toEqual(args);
  });

  it('returns the status, the output and the errors of a program that fails', () => {
    const result = runNode('console.log("out"); console.error("err"); process.exitCode = 7');
    expect(result).toEqual({ status: 7, stdout: Buffer.from('out\n'), stderr: 'err\n', truncated: false });
  });

  it('passes exactly the given environment', () => {
    const { stdout } = runNode('console.log(JSON.stringify(process.env))', { env: { ONLY: '1' } });
    expect(JSON.parse(stdout.toString())).toEqual({ ONLY: '1' });
  });

  it('passes input, or an empty one', () => {
    const echo = 'process.stdin.pipe(process.stdout)';
    expect(runNode(echo, { input: 'hello' }).stdout.toString()).toBe('hello');
    expect(runNode(echo).stdout.toString()).toBe('');
  });

  it('accepts a program that ends well without reading its input', () => {
    expect(runNode('', { input: Buffer.alloc(4 * 1024 * 1024) }).status).toBe(0);
  });

  it('cuts the error output at 4 KB', () => {
    expect(runNode('process.stderr.write("e".repeat(10000))').stderr).toHaveLength(4096);
  });

  it('keeps the first bytes of too long an output, with the status if the program finished', () => {
    const result = runNode('process.stdout.write("abcdefghij")', { maxBytes: 4 });
    expect(result).toMatchObject({ status: 0, stdout: Buffer.from('abcd'), truncated: true });
  });

  it('kills a program with endless output, and keeps what was read', () => {
    const result = runNode('const write = () => process.stdout.write("y".repeat(65536), write); write()', {
      maxBytes: 100_000,
    });
    expect(result).toMatchObject({ status: null, truncated: true });
    expect(result.stdout.toString()).toBe('y'.repeat(100_000));
  });

  it('kills a program that takes too long, also one that ignores polite signals', () => {
    const stubborn = `process.on('SIGTERM', () => {});
      require('node:fs').writeFileSync('pid', String(process.pid));
      setInterval(() => {}, 1000)`;
    // A machine that is busy may take longer than the first limit to start it at all.
    for (const timeoutMs of [2000, 30_000]) {
      expect(() => runNode(stubborn, { timeoutMs })).toThrow(
        expect.objectContaining({ code: 'HANDOVER_PROGRAM_TIMEOUT', exitStatus: 75, hint: expect.any(String) }),
      );
      if (existsSync(join(folder, 'pid'))) break;
    }
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow(expect.objectContaining({ code: 'ESRCH' }));
  });

  it.skipIf(process.platform === 'win32')(
    'does not wait for what a killed program has started',
    () => {
      expect(() => runProgram('sh', ['-c', 'sleep 15 & wait'], options({ timeoutMs: 300 }))).toThrow(
        expect.objectContaining({ code: 'HANDOVER_PROGRAM_TIMEOUT' }),
      );
    },
    10_000,
  );

  it('says that a program is missing, and what to do', () => {
    for (const name of ['no-such-program-here', join(folder, 'neither-this')]) {
      expect(() => runProgram(name, [], options())).toThrow(
        expect.objectContaining({
          code: 'HANDOVER_PROGRAM_MISSING',
          exitStatus: 69,
          hint: expect.stringContaining('PATH'),
        }),
      );
    }
    expect(() => runProgram('node', [], options({ env: {} }))).toThrow(
      expect.objectContaining({ code: 'HANDOVER_PROGRAM_MISSING' }),
    );
  });

  it('does not take a missing working folder, or a file in its place, for a missing program', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const cwd of [join(folder, 'gone'), file]) {
      expect(() => runNode('', { cwd })).toThrow(
        expect.objectContaining({ code: 'HANDOVER_PROJECT_MISSING', message: expect.stringContaining(cwd) }),
      );
    }
  });

  it.skipIf(process.platform === 'win32')('says that a program is missing when its interpreter is', () => {
    const script = join(folder, 'script');
    writeFileSync(script, '#!/no/such/interpreter\n');
    chmodSync(script, 0o755);
    expect(() => runProgram(script, [], options())).toThrow(
      expect.objectContaining({ code: 'HANDOVER_PROGRAM_MISSING' }),
    );
  });

  it.skipIf(process.platform === 'win32')('never takes a program from the working folder by a relative PATH', () => {
    mkdirSync(join(folder, 'bin'));
    writeScript(join(folder, 'planted'), 'echo fired');
    writeScript(join(folder, 'bin', 'planted'), 'echo fired');
    for (const PATH of ['.', '', ':', 'bin', './bin:/usr/bin:/bin']) {
      expect(() => runProgram('planted', [], options({ env: { PATH } }))).toThrow(
        expect.objectContaining({ code: 'HANDOVER_PROGRAM_MISSING' }),
      );
    }
    const { stdout } = runProgram('planted', [], options({ env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` } }));
    expect(stdout.toString()).toBe('fired\n');
  });

  it.skipIf(process.platform === 'win32')('passes over folders and files in PATH that cannot be run', () => {
    for (const name of ['one', 'two', 'three']) mkdirSync(join(folder, name));
    mkdirSync(join(folder, 'one', 'tool'));
    writeFileSync(join(folder, 'two', 'tool'), '');
    writeScript(join(folder, 'three', 'tool'), 'echo found');
    const PATH = ['one', 'two', 'three'].map((name) => join(folder, name)).join(':');
    expect(runProgram('tool', [], options({ env: { PATH } })).stdout.toString()).toBe('found\n');
  });
});
