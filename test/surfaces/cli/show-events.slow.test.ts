import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { computeFactId, type Fact } from '../../../src/model/fact.ts';
import { openStore } from '../../../src/store/store.ts';
import { SESSION_ID, Transcript } from '../../fixtures/agents/claude-code.ts';
import { makeDatabase } from '../../fixtures/agents/database.ts';
import { createSchema, insertSession, SESSION_ID as OPENCODE_ID } from '../../fixtures/agents/opencode.ts';
import { errorCode, makeSandbox } from '../../support/cli.ts';
import { saveOne } from '../../support/temp-store.ts';
import { captureStory, type TracedJson, trace } from '../../support/traced-story.ts';
import { writeText } from '../../support/transcripts.ts';

describe('handover show --events', () => {
  it('shows one fact, by the beginning of its id, on lines of their own', async () => {
    const { sandbox } = await captureStory();
    const { facts } = await trace(sandbox);
    const fact = facts.find(({ text }) => text === 'npm test');
    const text = await sandbox.ok(['show', '--events', fact?.id.slice(0, 8).toUpperCase() ?? '']);
    expect(text).toMatch(/\ncheck \[ok\] npm test {2}\(observed, tool, f-\w{10}\)\n/);
    expect(text).toMatch(/\n {2}line \d+ {2}\S+Z {2}call {2}ran npm test\n/);
    expect(text).toMatch(/\n {2}line \d+ {2}\S+Z {2}result {2}exit 0: 2 passed\n$/);
    const other = await trace(sandbox, fact?.id ?? '');
    expect(other.facts).toHaveLength(1);
  });

  it('takes an argument that cannot be a fact id for the handover', async () => {
    const { sandbox } = await captureStory();
    const { id } = await trace(sandbox);
    expect((await sandbox.json<TracedJson>(['show', '--events', id])).id).toBe(id);
    expect((await sandbox.run(['show', 'latest', '--events', id])).status).toBe(66);
  });

  it('reports what is wrong with the id of a fact', async () => {
    const { sandbox } = await captureStory();
    const { id } = await trace(sandbox);
    const unknown = await sandbox.run(['show', id, '--events', 'f-zzzz', '--json']);
    expect([unknown.status, errorCode(unknown)]).toEqual([66, 'HANDOVER_NOT_FOUND']);
    const ambiguous = await sandbox.run(['show', id, '--events', 'f-', '--json']);
    expect([ambiguous.status, errorCode(ambiguous)]).toEqual([64, 'HANDOVER_ID_AMBIGUOUS']);
  });

  it('says that the transcript is missing, and which lines it had', async () => {
    const { sandbox, path } = await captureStory();
    rmSync(path);
    const { transcript, facts } = await trace(sandbox);
    expect(transcript.state).toBe('gone');
    expect(facts[0]?.sources).toEqual([{ line: 3, state: 'unread', events: [] }]);
    const text = await sandbox.ok(['show', '--events']);
    expect(text).toContain(`gone: ~/.claude/projects/-home-ann-shop/${SESSION_ID}.jsonl no longer exists`);
    expect(text).toContain('\n  line 3\n');
  });

  it('finds a transcript that was moved within the agent’s home', async () => {
    const { sandbox, path } = await captureStory();
    const moved = writeText(join(sandbox.home, '.claude', 'projects', '-elsewhere', `${SESSION_ID}.jsonl`), '');
    renameSync(path, moved);
    const { transcript, facts } = await trace(sandbox);
    expect(transcript.path).toContain('/-elsewhere/');
    expect(facts[0]?.sources[0]?.state).toBe('told');
  });

  it('detects that a line was rewritten, and that the end is missing', async () => {
    const { sandbox, path } = await captureStory();
    const rows = readFileSync(path, 'utf8').split('\n');
    const kept = rows.slice(0, 6).join('\n').replaceAll('Make the upload retry', 'Paint the upload blue');
    writeFileSync(path, `${kept}\n`);
    const { facts } = await trace(sandbox);
    const states = new Map(facts.map((fact) => [fact.text, fact.sources[0]?.state]));
    expect(states.get('Make the upload retry when the server is busy')).toBe('changed');
    expect(states.get('npm test')).toBe('missing');
    const text = await sandbox.ok(['show', '--events']);
    expect(text).toContain('line 3 was rewritten and no longer says this');
    expect(text).toContain('Paint the upload blue');
    expect(text).toMatch(/line \d+ is empty now: the last event is at line \d\n/);
  });

  it('says so when the file belongs to another program', async () => {
    const { sandbox, path } = await captureStory();
    writeFileSync(path, 'nothing of the kind\n');
    expect((await trace(sandbox)).transcript.state).toBe('unknown');
    expect(await sandbox.ok(['show', '--events'])).toContain('is not a format that claude-code writes');
  });

  it('names the entries of an agent with a database', async () => {
    const sandbox = makeSandbox();
    const path = join(sandbox.home, '.local', 'share', 'opencode', 'opencode.db');
    writeText(path, '');
    rmSync(path);
    makeDatabase(path, (database) => {
      createSchema(database);
      insertSession(database);
    });
    await sandbox.ok(['capture', '--session', OPENCODE_ID, '--print', 'none']);
    const { facts } = await trace(sandbox);
    expect(facts[0]?.sources[0]).toMatchObject({ state: 'told', events: [{ ref: { id: /^prt_/ } }] });
    expect(await sandbox.ok(['show', '--events'])).toMatch(/\n {2}entry \d+ \(prt_\w+\) {2}\S+Z {2}prompt {2}Make/);
  });

  it('says that declared facts have no transcript lines', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'By hand', '--decision', 'Keep it small', '--by', 'human');
    const text = await sandbox.ok(['show', '--events']);
    expect(text).toContain('transcript  none: these facts were not read from one');
    expect(text).toMatch(/decision Keep it small.*\n {2}no place recorded: declared by a human\n/);
  });

  it('shows all sources of a fact, and says which are of another session', async () => {
    const { sandbox, path } = await captureStory();
    const request = 'Make the upload retry when the server is busy';
    const fact: Fact = {
      id: computeFactId('goal', request),
      kind: 'goal',
      text: request,
      trust: 'quoted',
      origin: 'human',
      sources: [
        { line: 3 },
        { line: 400, session: SESSION_ID },
        { line: 9, session: 'earlier' },
        { ref: '20260131-120000-abcd' },
        {},
      ],
    };
    const session = {
      agent: 'claude-code',
      id: SESSION_ID,
      terminal: null,
      model: null,
      transcript: path,
      started_at: null,
    };
    saveOne(openStore(sandbox.machine), 'Carried on', { facts: [fact], session });
    const { facts } = await trace(sandbox);
    expect(facts[0]?.sources.map((source) => source.state)).toEqual([
      'told',
      'missing',
      'elsewhere',
      'elsewhere',
      'unplaced',
    ]);
    const text = await sandbox.ok(['show', '--events']);
    expect(text).toContain('line 9 of the session earlier, which this transcript does not contain');
    expect(text).toContain('from the handover 20260131-120000-abcd');
  });

  it('follows a carried fact into the transcript of its own session', async () => {
    const { sandbox } = await captureStory();
    const other = 'aaaaaaaa-4b5e-4f0a-9d57-0c1f7c2a9e11';
    const later = new Transcript({ sessionId: other, timestamp: '2026-02-01T09:00:00.000Z' });
    later.human('Now write the documentation of the upload, please');
    const place = join(sandbox.home, '.claude', 'projects', '-home-ann-shop', `${other}.jsonl`);
    await sandbox.ok(['capture', '--transcript', writeText(place, later.text), '--print', 'none']);
    const rule = 'Never retry on 404, and keep the delay below 2000 ms';
    const { facts } = await trace(sandbox);
    expect(facts.find((fact) => fact.text === rule)?.sources).toMatchObject([
      {
        session: SESSION_ID,
        transcript: `~/.claude/projects/-home-ann-shop/${SESSION_ID}.jsonl`,
        state: 'told',
        events: [{ type: 'prompt', text: rule }],
      },
    ]);
    const text = await sandbox.ok(['show', '--events']);
    expect(text).toContain(`  in the session ${SESSION_ID}, ~/.claude/`);
  });
});
