import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../../src/agents/agent.ts';
import { loadAgent } from '../../../src/agents/table.ts';
import { findDrift } from '../../../src/app/capture/drift.ts';
import { STORIES, type Story } from '../../fixtures/agents/stories.ts';
import { errorCode, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { toJsonLines, writeText } from '../../support/transcripts.ts';

type Row = Record<string, unknown>;

/** What a later version might write: from a row on, every row is of an unknown kind. The head stays. */
function writeFuture({ text, key, head }: Story, from: number): string {
  const rows: Row[] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const first = Math.max(head, Math.round(rows.length * from));
  return toJsonLines(
    rows.map((row, index) => (index < first || row[key] === undefined ? row : { ...row, [key]: `${row[key]}/9` })),
  );
}

function layOut(story: Story, text: string): { sandbox: Sandbox; path: string } {
  const sandbox = makeSandbox();
  return { sandbox, path: writeText(join(sandbox.home, story.place), text) };
}

interface Examination {
  transcripts: number;
  findings: { code: string; level: string; path: string; message: string }[];
}

async function findDrifted(sandbox: Sandbox): Promise<Examination['findings']> {
  const { findings } = await sandbox.json<Examination>(['doctor']);
  return findings.filter(({ code }) => code === 'drift');
}

describe.each(STORIES)('a transcript of $agent', (story) => {
  it('in today’s format gives no warning', async () => {
    const { sandbox, path } = layOut(story, story.text);
    const { status, stderr } = await sandbox.run(['capture', '--transcript', path, '--print', 'none']);
    expect([status, stderr.includes('warning'), stderr.includes('note')]).toEqual([0, false, false]);
    expect(await findDrifted(sandbox)).toEqual([]);
  });

  it('in an unknown later format is refused with its version, and nothing is saved', async () => {
    const { sandbox, path } = layOut(story, writeFuture(story, 0));
    const result = await sandbox.run(['capture', '--transcript', path, '--json']);
    expect([result.status, errorCode(result)]).toEqual([65, 'HANDOVER_TRANSCRIPT_DRIFTED']);
    const { error }: { error: { message: string; hint: string; agent_version: string | null; unknown: object[] } } =
      JSON.parse(result.stderr);
    expect(error.message).toContain(`rows of ${story.agent}, version ${story.version ?? 'unknown'}`);
    expect(error.unknown).not.toEqual([]);
    expect(error.hint).toContain('nstall the newest agent-handover');
    expect(error.agent_version).toBe(story.version);
    expect(await sandbox.json(['list'])).toEqual([]);
  });

  it('in a later format from the middle on is saved, with a warning that names the unknown kinds', async () => {
    const { sandbox, path } = layOut(story, writeFuture(story, 0.5));
    const { status, stderr } = await sandbox.run(['capture', '--transcript', path, '--print', 'none']);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^warning: this transcript was understood only in part, .*\/9 \(\d+\)/);
    expect(stderr).toContain('\n  next: install the newest agent-handover');
    expect(await sandbox.json<unknown[]>(['list'])).toHaveLength(1);
  });

  it('in a later format is reported by doctor, which still succeeds', async () => {
    const { sandbox, path } = layOut(story, writeFuture(story, 0.5));
    const [finding, ...others] = await findDrifted(sandbox);
    expect(finding).toMatchObject({ level: 'warning', path });
    expect(finding?.message).toContain(`${path}: understood only a part of it: `);
    expect(others).toEqual([]);
    const { status, stdout } = await sandbox.run(['doctor']);
    expect(status).toBe(0);
    expect(stdout).toContain('warning  ');
    expect(stdout).not.toContain('all is well');
  });
});

describe('handover doctor, checking transcripts', () => {
  const [story] = STORIES;
  if (story === undefined) throw new Error('there is no story');

  it('reports a file in an agent’s folder that is not recognised', async () => {
    const { sandbox, path } = layOut(story, '{"turn":1,"words":"other"}\n'.repeat(3000));
    expect(await findDrifted(sandbox)).toMatchObject([
      { path, message: expect.stringContaining('not recognised as a transcript of claude-code') },
    ]);
  });

  it('skips small unknown files, and transcripts that are too long', async () => {
    const { sandbox } = layOut(story, '{"turn":1}\n');
    const long = writeFuture(story, 0).repeat(1500);
    expect(long.length).toBeGreaterThan(16 * 1024 * 1024);
    writeText(join(sandbox.home, '.claude/projects/-b/x.jsonl'), long);
    expect(await sandbox.json<Examination>(['doctor'])).toMatchObject({ transcripts: 0 });
    expect(await findDrifted(sandbox)).toEqual([]);
  });

  it('reads three transcripts of an agent at most, and none when its time is up', async () => {
    const { sandbox } = layOut(story, story.text);
    for (const name of ['a', 'b', 'c', 'd'])
      writeText(join(sandbox.home, `.claude/projects/-b/${name}.jsonl`), story.text);
    expect(await findDrift(sandbox.machine)).toEqual({ looked: 3, drifted: [] });
    let now = 0;
    const clock = { now: () => (now += 10_000) };
    expect(await findDrift({ ...sandbox.machine, clock })).toEqual({ looked: 0, drifted: [] });
  });
});

describe('every supported agent', () => {
  it('lists its transcripts from where it finds its sessions', async () => {
    for (const story of STORIES) {
      const { sandbox, path } = layOut(story, story.text);
      const agent = await loadAgent(story.agent);
      expect([...agent.listTranscripts(sandbox.machine)]).toEqual([path]);
    }
    for (const name of AGENT_NAMES) {
      const agent = await loadAgent(name);
      const sandbox = makeSandbox();
      const found = [...agent.listTranscripts(sandbox.machine)];
      expect(name === 'aider' ? [] : found).toEqual([]);
    }
  });
});
