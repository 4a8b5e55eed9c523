import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { build } from 'rolldown';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeTempFolder } from '../support/cli.ts';

const BYTES = 600_000;
/** What takes a second in linear time takes minutes otherwise. */
const LIMIT_MS = 25_000;

/** Characters and words that patterns stop, start or count at. */
const UNITS = [
  ...['a', 'a ', 'A', 'aA', '_', '0', '.', '. ', ',', ';', ':', '!', '?', '/', 'a/', 'a.', '::', '-', '- ', '# '],
  ...['(', '[', '{', '`', '```', '"', "'", '\\', '|', '&', '>', '> ', '<<', '<<E\n', '$(', '"$(', '\n', ' ', '\t'],
  ...[
    '日',
    '。',
    '😀',
    '\ud800',
    'func (',
    'export ',
    'error ',
    '3 passed ',
    'sudo ',
    'A=',
    'http://',
    '[a 1234567',
    '[1\n',
    '1. a\n',
    '12:00\n',
    'a | b | ',
    '**',
    '**a ',
    '__a ',
    'git ',
    'git commit ',
    ' -m "',
    ' -m ',
    '--title ',
    ' → ',
    '# a\n',
    'a:\n',
    '1. a\n2. b?\n',
    'HEAD~',
    'a.ts:1 ',
    '| a\n',
  ],
];

let folder = '';
let thread: Worker | null = null;

beforeAll(async () => {
  folder = makeTempFolder();
  await build({
    input: 'test/distill/workers/distill-thread.ts',
    platform: 'node',
    logLevel: 'silent',
    output: { file: join(folder, 'thread.mjs'), format: 'esm' },
  });
});

afterEach(async () => {
  await thread?.terminate();
  thread = null;
});

describe('distilling takes time linear in the length of a text', () => {
  it.each(UNITS)('that repeats %j', async (unit) => {
    thread = new Worker(join(folder, 'thread.mjs'));
    thread.postMessage(unit.repeat(BYTES / unit.length));
    const [brief] = await once(thread, 'message', { signal: AbortSignal.timeout(LIMIT_MS) });
    expect(brief).toContain('Go on with what is left to do');
  });
});
