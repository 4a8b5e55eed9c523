import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import type { JournalEntry } from '../../../src/model/journal-entry.ts';
import { SESSION_ID, Transcript } from '../../fixtures/agents/claude-code.ts';
import { makeEnvelope, makeOldEnvelope, writeEnvelope } from '../../fixtures/v2-envelopes.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { readJournal } from '../../support/journal.ts';
import { writeText } from '../../support/transcripts.ts';
import { listFiles, snapshotTree } from '../../support/tree.ts';

interface Migration {
  records: { id: string | null; outcome: string; note: string | null; file: string }[];
}

const inProject = (sandbox: Sandbox, name = 'env_pane-7'): string =>
  join(sandbox.project, '.claude/state/handoff', `${name}_handoff.json`);

const show = (sandbox: Sandbox, id: string | null): Promise<Handover> => sandbox.json(['show', id ?? '']);

async function migrate(sandbox: Sandbox, ...args: string[]): Promise<Migration['records']> {
  const { stdout } = await sandbox.run(['migrate', ...args, '--json']);
  const { records }: Migration = JSON.parse(stdout);
  return records;
}

describe('handover migrate, of envelopes of handoff V2', () => {
  it('imports the file that 0.3.x has in a project', async () => {
    const sandbox = makeSandbox();
    writeText(inProject(sandbox), writeEnvelope(makeOldEnvelope()));
    const [record] = await migrate(sandbox);
    expect(record).toMatchObject({ outcome: 'imported', note: null });
    const handover = await show(sandbox, record?.id ?? null);
    expect(handover).toMatchObject({
      title: 'Make the import resumable',
      created_at: '2026-01-05T10:00:00.123Z',
      expires_at: '2026-01-05T10:20:00.123Z',
      session: { terminal: 'env_pane-7', transcript: '/somewhere/else/session-9.jsonl' },
      workspace: { root: sandbox.project },
      imported: { format: 'handoff-v2' },
    });
    expect(new Set(handover.facts.map(({ trust, origin }) => `${trust} ${origin}`))).toEqual(
      new Set(['imported import']),
    );
    expect(handover.facts.find(({ kind }) => kind === 'decision')).toMatchObject({
      text: 'We chose a checkpoint file',
      detail: { bridge_token: 'BRIDGE_20260105-100000_IMPORT' },
    });
  });

  it('imports the files that 0.5.x has for each capture, from a named folder', async () => {
    const sandbox = makeSandbox();
    const root = join(sandbox.folder, 'artifacts');
    for (const [at, terminal] of ['env_a', 'env_a', 'env_b'].entries()) {
      const envelope = makeEnvelope({
        snapshot: {
          terminal_id: terminal,
          snapshot_id: `id-${at}`,
          created_at: `2026-01-0${at + 1}T10:00:00+00:00`,
        },
      });
      const name = `${terminal}_2026010${at + 1}T100000_handoff.json`;
      writeText(join(root, terminal, 'snapshot', name), writeEnvelope(envelope));
    }
    const before = snapshotTree(root);
    const preview = await migrate(sandbox, '--from', root, '--dry-run');
    expect(preview.map(({ outcome }) => outcome)).toEqual(Array(3).fill('would import'));
    const records = await migrate(sandbox, '--from', root);
    expect(records.map(({ id }) => id)).toEqual(preview.map(({ id }) => id));
    expect(records.map(({ outcome }) => outcome)).toEqual(Array(3).fill('imported'));
    const again = await migrate(sandbox, '--from', root);
    expect(again.map(({ outcome }) => outcome)).toEqual(Array(3).fill('present'));
    expect(again.map(({ id }) => id)).toEqual(records.map(({ id }) => id));
    expect(snapshotTree(root)).toEqual(before);
    expect(await sandbox.json(['list', '--terminal', 'a'])).toHaveLength(2);
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
  });

  it.each([
    ['consumed', { consumed_at: '2026-01-05T10:05:00+00:00', consumed_by_session_id: 'session-10' }],
    ['rejected_stale', { rejected_at: '2026-01-05T11:00:00+00:00', rejection_reason: 'expired' }],
    ['rejected_invalid', { rejected_at: '2026-01-05T11:00:00+00:00', rejection_reason: 'other terminal' }],
  ])('keeps the status %s, also when it was set later', async (status, more) => {
    const sandbox = makeSandbox();
    const path = writeText(inProject(sandbox), writeEnvelope(makeEnvelope()));
    const [first] = await migrate(sandbox);
    const statusOf = async (): Promise<unknown> =>
      (await sandbox.json<{ status: string }[]>(['list', '--status']))[0]?.status;
    expect(await statusOf()).toBe('pending');
    writeText(path, writeEnvelope(makeEnvelope({ snapshot: { status, ...more } })));
    for (const _ of [1, 2]) expect(await migrate(sandbox)).toMatchObject([{ id: first?.id, outcome: 'present' }]);
    expect(await statusOf()).toBe(status);
    const moves = readJournal(sandbox.store).filter(({ event }: JournalEntry) => event === status);
    expect(moves).toHaveLength(1);
    expect(moves[0]).toMatchObject({
      subject: first?.id,
      ...('consumed_by_session_id' in more ? { session: 'session-10' } : { reason: more.rejection_reason }),
    });
  });

  it('refuses damaged envelopes, quarantines one copy, and imports the others', async () => {
    const sandbox = makeSandbox();
    const good = writeEnvelope(makeEnvelope());
    const bad = {
      changed: good.replace('Make the import resumable', 'Make the export resumable'),
      cut: good.slice(0, 700),
      ref: writeEnvelope(makeEnvelope({ snapshot: { evidence_refs: ['ev_none'] } })),
      kind: writeEnvelope(makeEnvelope({ snapshot: { status: 'done' } })),
    };
    for (const [name, text] of Object.entries({ ...bad, good })) writeText(inProject(sandbox, name), text);
    for (const _ of [1, 2]) {
      const run = await sandbox.run(['migrate', '--json']);
      expect(run.status).toBe(65);
      const { records }: Migration = JSON.parse(run.stdout);
      const notes = records.filter(({ outcome }) => outcome === 'refused').map(({ note }) => note ?? '');
      expect(notes).toHaveLength(4);
      expect(notes[0]).toContain('its checksum does not match its content; a copy is in the quarantine as');
      expect(records.filter(({ id }) => id !== null)).toHaveLength(1);
    }
    const aside = listFiles(join(sandbox.store, 'quarantine'));
    expect(aside.map((path) => readFileSync(path, 'utf8')).sort()).toEqual(Object.values(bad).sort());
    expect(readJournal(sandbox.store).filter(({ event }) => event === 'quarantined')).toHaveLength(4);
  });

  it('recognises an envelope printed by this store, and imports it elsewhere with the same content', async () => {
    const [here, there] = [makeSandbox(), makeSandbox()];
    const t = new Transcript({ cwd: here.project });
    t.human('Never push to main. Write the parser in src/parse.ts, please');
    t.call('a', 'Write', { file_path: join(here.project, 'src/parse.ts'), content: 'export {};\n' });
    t.result('a', 'ok');
    t.call('b', 'AskUserQuestion', { questions: [{ question: 'Which parser?', options: [] }] });
    t.result('b', 'User has answered your questions: "Which parser?"="a hand-written one". You can now continue.');
    t.say('We decided to use a tokenizer too.');
    const transcript = join(here.home, '.claude/projects/-x', `${SESSION_ID}.jsonl`);
    const printed = await here.ok(['capture', '--transcript', writeText(transcript, t.text), '--print', 'v2']);
    const file = writeText(join(here.folder, 'printed.json'), printed);
    expect(await migrate(here, '--from', file)).toMatchObject([{ outcome: 'present', note: 'was printed from here' }]);
    const [record] = await migrate(there, '--from', file);
    expect(record?.outcome).toBe('imported');
    const texts = (await show(there, record?.id ?? null)).facts.map(({ text }) => text);
    expect(texts).toEqual(expect.arrayContaining(['src/parse.ts', 'Which parser? → a hand-written one']));
    expect(texts).not.toContain('We decided to use a tokenizer too.');
    expect(texts.join('\n')).toContain('Never push to main');
  });

  it('redacts secrets before anything is written', async () => {
    const sandbox = makeSandbox();
    const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_');
    const snapshot = { goal: `Push with ${secret}`, last_user_message: secret, current_task: secret };
    writeText(inProject(sandbox), writeEnvelope(makeEnvelope({ snapshot, environment: { env: [secret] } })));
    await migrate(sandbox);
    for (const file of listFiles(sandbox.store)) expect(readFileSync(file).includes(secret), file).toBe(false);
  });

  it('says what to pass when there is no envelope', async () => {
    const sandbox = makeSandbox();
    const { status, stderr } = await sandbox.run(['migrate', '--from', sandbox.home]);
    expect(status).toBe(66);
    expect(stderr).toContain('no envelopes of handoff V2');
  });
});
