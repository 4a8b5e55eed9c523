import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { plantCanaries } from '../support/canaries.ts';
import { HANDOVER, makeTempFolder, runProcess } from '../support/cli.ts';
import { HOOK, waitForWorkers, writeSession } from '../support/hooks.ts';
import { writeIn } from '../support/publishing.ts';
import { canTrace } from '../support/strace.ts';
import { Walk } from './walkthrough/walkthrough.ts';

const WRITES = 'write,writev,pwrite64,pwritev,pwritev2';
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f' };

/** What strace prints of a text, as it was. */
function readEscaped(printed: string): string {
  return printed.replace(/\\([0-7]{1,3}|.)/g, (_, code: string) =>
    /^[0-7]/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  );
}

interface Writes {
  /** All that went into files, by their paths, whatever became of them. */
  files: Map<string, string>;
  status: number | null;
}

async function traceWrites(
  walk: Walk,
  command: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Writes> {
  const log = join(makeTempFolder(), 'trace');
  const { status } = await runProcess([process.execPath, ...command], {
    cwd: walk.sandbox.project,
    env: { ...walk.sandbox.env, TMPDIR: walk.temp, ...env },
    input,
    timeoutMs: 60_000,
    through: ['strace', '-f', '-qq', '-y', '-s', '4000000', '-o', log, '-e', `trace=${WRITES}`],
  });
  const files = new Map<string, string>();
  for (const line of readFileSync(log, 'latin1').split('\n')) {
    const [, path = ''] = /^\d+ +\w+\(\d+<(\/[^>]*)>, /.exec(line) ?? [];
    if (path === '' || path.startsWith('/dev/')) continue;
    const texts = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => readEscaped(text));
    files.set(path, (files.get(path) ?? '') + texts.join(''));
  }
  return { files, status };
}

describe.runIf(canTrace)(
  'no command writes a secret at any moment (skipped where there is no strace)',
  { retry: 2 },
  () => {
    const walk = new Walk();
    const { sandbox } = walk;

    async function expectClean(
      command: readonly string[],
      options: Parameters<typeof traceWrites>[2] = {},
    ): Promise<void> {
      const { files, status } = await traceWrites(walk, command, options);
      expect(status).toBe(0);
      expect(files.size).toBeGreaterThan(0);
      const found = [...files].flatMap(([path, text]) => walk.watch.find(text).map((told) => `${path}: ${told}`));
      expect(found).toEqual([]);
    }

    it('as the system call trace would show', async () => {
      const [text = ''] = walk.plantNames(1);
      const script = 'const fs = require("fs"); fs.writeFileSync("x", process.argv[1]); fs.rmSync("x");';
      const { files } = await traceWrites(walk, ['-e', script, text]);
      expect(walk.watch.find([...files.values()].join(''))).toHaveLength(1);
    });

    it('when a session is captured, searched and saved to', async () => {
      const transcript = new Transcript({ cwd: sandbox.project });
      plantCanaries(transcript, walk.take(150));
      writeIn(sandbox.home, '.claude/projects/-home-ann-shop/session.jsonl', transcript.text);
      const path = join(sandbox.home, '.claude/projects/-home-ann-shop/session.jsonl');
      await expectClean([HANDOVER, 'capture', '--transcript', path]);
      await expectClean([HANDOVER, 'search', '--sessions', 'settings']);
      await expectClean([HANDOVER, 'save', '--summary', '-', '--next', walk.plantOne()], {
        input: walk.plant(20).join('\n\n'),
      });
    });

    it('when a hook and its worker do their work', async () => {
      const session = writeSession(sandbox);
      session.transcript.human(walk.plantOne());
      session.transcript.say(walk.plantOne());
      session.write();
      const input = JSON.stringify(session.input({ last_assistant_message: walk.plantOne() }));
      await expectClean([HOOK, 'claude-code', 'Stop'], { input });
      await waitForWorkers(sandbox);
    });

    it('when handovers are exported and imported', async () => {
      writeIn(sandbox.project, 'memory/layer2/current-state.md', walk.plant(10).join('\n\n'));
      await expectClean([HANDOVER, 'snapshot']);
      await expectClean([HANDOVER, 'push']);
      const bundle = join(walk.temp, 'all.handover');
      await expectClean([HANDOVER, 'export', '--all', '--output', bundle]);
      const record = {
        id: '20260131-110000',
        created_at: '2026-01-31T11:00:00Z',
        tool: 'codex',
        project: sandbox.project,
        title: walk.plantOne(),
        summary: walk.plant(5).join('\n'),
        next: walk.plant(5),
      };
      writeIn(walk.temp, 'handoffs.json', JSON.stringify({ version: 1, items: [record] }));
      await expectClean([HANDOVER, 'migrate', '--from', join(walk.temp, 'handoffs.json')]);
      const input = JSON.stringify({ version: 1, record: { ...record, id: '20260131-120000' } });
      await expectClean([HANDOVER, 'import', '--input', '-', '--allow-unsigned'], { input });
    });
  },
);
