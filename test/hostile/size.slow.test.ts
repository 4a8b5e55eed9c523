import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Declaration, declareHandover } from '../../src/handover/declare.ts';
import { openStore } from '../../src/store/store.ts';
import { errorCode, HANDOVER, hasProgram, makeSandbox, runProcess } from '../support/cli.ts';
import { makeDeclaration, PLACE, saveSample } from '../support/samples.ts';

const MEGABYTE = 1024 * 1024;
/** Many times what a small save takes, and less than a few copies of the largest input here. */
const MOST_MEMORY = 160 * MEGABYTE;

describe('a text that is too large', () => {
  it.each([3, 10])('is refused from standard input with %i MB, in bounded memory', async (size) => {
    const sandbox = makeSandbox();
    const report = join(sandbox.folder, 'report.cjs');
    const figure = join(sandbox.folder, 'memory');
    writeFileSync(
      report,
      `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(figure)}, String(process.resourceUsage().maxRSS * 1024)));`,
    );
    const result = await sandbox.run(['save', '--summary', '-', '--json'], {
      input: Buffer.alloc(size * MEGABYTE, 'x'),
      env: { NODE_OPTIONS: `--require ${report}` },
    });
    expect(result.status).toBe(65);
    expect(errorCode(result)).toBe('HANDOVER_TEXT_TOO_LARGE');
    expect(existsSync(sandbox.store)).toBe(false);
    expect(Number(readFileSync(figure, 'utf8'))).toBeLessThan(MOST_MEMORY);
  });

  it('is refused when it fits into the input but not into a summary', async () => {
    const sandbox = makeSandbox();
    const result = await sandbox.run(['save', '--summary', '-', '--json'], {
      input: 'é'.repeat(MEGABYTE * 0.75),
    });
    expect([result.status, errorCode(result)]).toEqual([65, 'HANDOVER_TEXT_TOO_LARGE']);
    expect(existsSync(sandbox.store)).toBe(false);
  });

  it('is refused as a list of steps', async () => {
    const sandbox = makeSandbox();
    const many = Array.from({ length: 10_001 }, (_, at) => `step ${at}`).join('\n');
    const over = await sandbox.run(['save', '--title', 'x', '--next', '-', '--json'], { input: many });
    expect([over.status, errorCode(over)]).toEqual([65, 'HANDOVER_TEXT_TOO_LARGE']);
  });

  it.runIf(hasProgram('sh', '-c', 'command -v yes'))('is refused when it never ends', async () => {
    const sandbox = makeSandbox();
    const line = `yes | "$0" "$1" save --summary -; echo "status $?"`;
    const { stdout, stderr } = await runProcess(['sh', '-c', line, process.execPath, HANDOVER], {
      cwd: sandbox.project,
      env: sandbox.env,
    });
    expect(stdout).toBe('status 65\n');
    expect(stderr).toContain('standard input');
  });

  const large = 'x'.repeat(10 * MEGABYTE);
  it.each<[string, Partial<Declaration>]>([
    ['title', { title: large }],
    ['summary', { summary: large }],
    ['agent', { agent: large }],
    ['note', { facts: [{ kind: 'note', text: large }] }],
    ['pin', { pins: [large] }],
    ['file', { files: [large] }],
    ['title of escapes', { title: '\u001b]'.repeat(5 * MEGABYTE) + 'x'.repeat(6000) }],
    ['summary of C1 controls', { summary: '\u0090'.repeat(10 * MEGABYTE), title: large }],
  ])('is refused as %s by the library, and nothing is written', (_, parts) => {
    const sandbox = makeSandbox();
    expect(() => declareHandover(makeDeclaration(parts), PLACE, sandbox.machine)).toThrow(
      expect.objectContaining({ code: 'HANDOVER_TEXT_TOO_LARGE' }),
    );
    expect(existsSync(sandbox.store)).toBe(false);
  });

  it('is refused when only the sum of its parts is too large', () => {
    const sandbox = makeSandbox();
    const facts = Array.from({ length: 300 }, (_, at) => ({
      kind: 'note' as const,
      text: `${at} ${'x'.repeat(60 * 1024)}`,
    }));
    expect(() => saveSample(openStore(sandbox.machine), { facts })).toThrow(
      expect.objectContaining({ code: 'HANDOVER_TEXT_TOO_LARGE' }),
    );
    expect(existsSync(sandbox.store)).toBe(false);
  });
});
