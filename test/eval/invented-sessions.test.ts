import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { startReadStats } from '../../src/agents/agent.ts';
import { claudeCodeAgent } from '../../src/agents/claude-code/transcript.ts';
import { makeFolder } from '../support/temp-store.ts';

const SESSIONS = 'test/fixtures/sessions';

const Cut = v.object({
  file: v.string(),
  repo: v.string(),
  cut: v.number(),
  tools_before: v.number(),
  tools_after: v.number(),
});
const Index = v.object({ source: v.string(), claude_code: v.array(Cut) });

const { claude_code: cuts } = v.parse(Index, JSON.parse(readFileSync(join(SESSIONS, 'index.json'), 'utf8')));
const files = [...new Set(cuts.map(({ file }) => file))];

const Row = v.looseObject({
  uuid: v.optional(v.string()),
  parentUuid: v.optional(v.nullable(v.string())),
  isCompactSummary: v.optional(v.boolean()),
  message: v.optional(v.looseObject({ content: v.unknown() })),
});
const Block = v.looseObject({
  type: v.string(),
  id: v.optional(v.string()),
  tool_use_id: v.optional(v.string()),
});

function readRows(file: string): v.InferOutput<typeof Row>[] {
  const lines = readFileSync(join(SESSIONS, file), 'utf8').trimEnd().split('\n');
  return lines.map((line) => v.parse(Row, JSON.parse(line)));
}

function readBlocks(file: string): v.InferOutput<typeof Block>[] {
  const contents = readRows(file).map(({ message }) => message?.content);
  return contents.flatMap((content) => (Array.isArray(content) ? v.parse(v.array(Block), content) : []));
}

describe('the invented sessions', () => {
  it('are ten, and the same bytes each time they are written', () => {
    expect(files).toHaveLength(10);
    const folder = makeFolder();
    execFileSync(process.execPath, [join(SESSIONS, 'write', 'main.mjs'), folder]);
    for (const name of readdirSync(folder)) {
      expect(readFileSync(join(folder, name), 'utf8')).toBe(readFileSync(join(SESSIONS, name), 'utf8'));
    }
  });

  it.each(cuts)('$file has work on both sides of row $cut', ({ file, cut, tools_before, tools_after }) => {
    expect(readRows(file)[cut]?.isCompactSummary).toBe(true);
    expect(tools_before).toBeGreaterThanOrEqual(20);
    expect(tools_after).toBeGreaterThanOrEqual(20);
  });

  it.each(files)('%s is a chain of rows in which every call has one result', (file) => {
    const met = new Set<string>();
    for (const { uuid, parentUuid } of readRows(file)) {
      if (typeof parentUuid === 'string') expect(met).toContain(parentUuid);
      if (uuid === undefined) continue;
      expect(met).not.toContain(uuid);
      met.add(uuid);
    }
    const blocks = readBlocks(file);
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    const results = blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id: id }) => id);
    expect(results.toSorted()).toEqual(calls.toSorted());
  });

  it.each(files)('%s is read without skipping a row', (file) => {
    const session = claudeCodeAgent.inspectFile(join(SESSIONS, file));
    if (session === null) throw new Error(`${file} is not taken for a session`);
    const reading = startReadStats();
    const events = [...claudeCodeAgent.readEvents(session, reading)];
    expect(reading.unknown).toEqual({});
    expect(reading.unreadable).toBe(0);
    const types = new Set(events.map(({ type }) => type));
    expect(types).toContain('prompt');
    expect(types).toContain('compaction');
  });
});
