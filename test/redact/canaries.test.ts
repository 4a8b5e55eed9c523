import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Handover } from '../../src/model/handover.ts';
import { SESSION_ID, Transcript } from '../fixtures/agents/claude-code.ts';
import { type LabelledSecret, writeSecrets } from '../fixtures/secrets/write-secrets.ts';
import { type Desk, makeDesk, runGit } from '../support/cli.ts';
import { listFiles } from '../support/tree.ts';

/** In transcripts, git, what is saved by hand, and records that are taken over. */
const CANARIES = writeSecrets(500, 11);
const IN_TRANSCRIPT = CANARIES.slice(0, 350);
const IN_SAVES = CANARIES.slice(350, 430);
const IN_RECORDS = CANARIES.slice(430, 480);
const IN_GIT = CANARIES.slice(480).filter(({ text }) => !text.includes('\0'));

/** The middle of each line of a secret that is long enough to be known by it. */
function listTraces({ secret }: LabelledSecret): string[] {
  const lines = secret.split('\n').filter((line) => !line.startsWith('-----') && line.length >= 8);
  return lines.map((line) => line.slice(Math.floor(line.length / 4), Math.ceil(line.length * 0.9)));
}

const TRACES = CANARIES.flatMap((canary) => listTraces(canary).map((trace) => ({ trace, canary })));

function findTraces(content: string): string[] {
  return TRACES.filter(({ trace }) => content.includes(trace)).map(
    ({ canary: { kind, form, text } }) => `${kind}, ${form}: ${text}`,
  );
}

function tell(canaries: readonly LabelledSecret[]): string {
  const t = new Transcript();
  t.human(`Begin: ${canaries[0]?.text}`);
  for (const [index, { text }] of canaries.entries()) {
    const id = `call-${index}`;
    if (index % 5 === 0) t.human(`Look at this, it has to work now:\n${text}`);
    else if (index % 5 === 1) t.say(`I found this in the settings, and it must be used:\n\n${text}`);
    else if (index % 5 === 2) {
      t.call(id, 'Bash', { command: `cat <<'E'\n${text}\nE` });
      t.result(id, `error: not accepted\n${text}`, { isError: true });
    } else if (index % 5 === 3) {
      t.call(id, 'Write', { file_path: `/home/ann/shop/file-${index}.txt`, content: text });
      t.result(id, 'written');
    } else {
      t.call(id, 'Bash', { command: 'cat settings' });
      t.result(id, text);
    }
  }
  return t.text;
}

describe('of 500 planted secrets', () => {
  const outputs: string[] = [];
  let desk: Desk;

  beforeAll(async () => {
    desk = makeDesk();
    const run = async (args: readonly string[], input?: string): Promise<void> => {
      const { stdout, stderr } = await desk.run(args, {
        timeoutMs: 60_000,
        ...(input === undefined ? {} : { input }),
      });
      outputs.push(`${args[0]}: ${stdout}${stderr}`);
    };
    runGit(desk.project, 'init', '-q');
    for (const { text } of IN_GIT)
      runGit(desk.project, 'commit', '-q', '--allow-empty', '-m', text.replaceAll('\n', ' '));
    const transcript = join(desk.home, '.claude/projects/-home-ann-shop', `${SESSION_ID}.jsonl`);
    mkdirSync(dirname(transcript), { recursive: true });
    writeFileSync(transcript, tell(IN_TRANSCRIPT.slice(0, 200)));
    for (const print of ['brief', 'json', 'v2'])
      await run(['capture', '--transcript', transcript, '--print', print]);
    writeFileSync(transcript, tell(IN_TRANSCRIPT));
    await run(['capture', '--transcript', transcript, '--goal', IN_TRANSCRIPT[3]?.text ?? '']);
    await run(['capture', '--transcript', transcript, '--dry-run', '--json']);
    await run(['show', '--events']);
    await run(['show', '--events', '--json']);
    const flags = ['--goal', '--next', '--decision', '--note', '--pin', '--blocker'];
    await run(
      ['save', '--title', IN_SAVES[0]?.text ?? '', '--summary', '-'],
      IN_SAVES.map(({ text }) => text).join('\n\n'),
    );
    await run(['save', '--summary', 'x', ...IN_SAVES.flatMap(({ text }, at) => [flags[at % 6] ?? '', text])]);
    const { facts } = await desk.json<Handover>(['show']);
    for (const { text } of IN_SAVES.slice(0, 5))
      await run(['resolve', facts[0]?.id ?? '', '--because', text]);
    const items = IN_RECORDS.map(({ text }, at) => ({
      id: `20260131-1000${String(at).padStart(2, '0')}-abcd`,
      title: at % 3 === 0 ? text : 'A title',
      tool: 'codex',
      project: desk.project,
      summary: at % 3 === 1 ? text : 'A summary',
      next: at % 3 === 2 ? [text] : [],
      created_at: `2026-01-31T10:00:${String(at).padStart(2, '0')}Z`,
    }));
    const records = join(desk.folder, 'handoffs.json');
    writeFileSync(
      records,
      JSON.stringify({ version: 1, items: [...items, { id: IN_RECORDS[0]?.text, summary: 5 }] }),
    );
    await run(['migrate', '--from', records, '--dry-run', '--json']);
    await run(['migrate', '--from', records]);
    for (const args of [
      ['list'],
      ['list', '--json', '--limit', '0'],
      ['list', '--query', 'settings'],
      ['show'],
      ['show', '--json'],
      ['render'],
      ['render', '--json'],
      ['diff'],
      ['sessions'],
      ['sessions', '--json'],
      ['doctor'],
      ['doctor', '--json'],
    ])
      await run(args);
  }, 240_000);

  it('all are of 60 kinds and more', () => {
    expect(CANARIES).toHaveLength(500);
    expect(findTraces(tell(IN_TRANSCRIPT).replaceAll('\\"', '"')).length).toBeGreaterThan(300);
    expect(new Set(CANARIES.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(60);
  });

  it('none is in any file of the store', () => {
    const files = listFiles(desk.store);
    expect(files.length).toBeGreaterThan(50);
    expect(files.some((file) => file.endsWith('index.sqlite'))).toBe(true);
    const found = files.flatMap((file) =>
      findTraces(readFileSync(file, 'latin1')).map((trace) => `${file}: ${trace}`),
    );
    expect(found).toEqual([]);
  });

  it('none is in what any command printed', () => {
    expect(outputs.length).toBeGreaterThan(20);
    expect(
      outputs.flatMap((output) => findTraces(output).map((trace) => `${output.slice(0, 9)}: ${trace}`)),
    ).toEqual([]);
  });
});
