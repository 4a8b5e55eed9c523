import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Checkpoint } from '../../../src/memory/runs/checkpoint.ts';
import { formatCheckpoint, parseCheckpoint, type RunState } from '../../../src/memory/runs/checkpoint-file.ts';
import { HandoverEngine } from '../../../src/memory/runs/engine.ts';
import { readResumeCode } from '../../../src/memory/runs/resume-code.ts';
import { describeMachine } from '../../../src/platform/machine.ts';
import { makeSandbox, makeTempFolder } from '../../support/cli.ts';

function makeCheckpoint(): Checkpoint {
  const folder = makeTempFolder();
  return new Checkpoint('.agent-handover/checkpoint.json', describeMachine({ HOME: folder }, folder));
}

/** An engine whose steps note down that they ran; one of them may fail. */
function makeEngine(checkpoint: Checkpoint, names: readonly string[], fails?: string) {
  const ran: string[] = [];
  const steps = names.map((name) => ({
    name,
    run: () => {
      if (name === fails) throw new Error('no network');
      ran.push(name);
    },
  }));
  const engine = new HandoverEngine({ steps, checkpoint, machine: checkpoint.machine });
  return { ran, run: () => engine.run() };
}

describe('the checkpoint file', () => {
  it('has the keys, order and format of the original, and unknown keys after them', async () => {
    const checkpoint = makeCheckpoint();
    await makeEngine(checkpoint, ['session_note', 'current_state']).run();
    const text = readFileSync(checkpoint.path, 'utf8');
    expect(text.split('\n').slice(0, 5)).toEqual([
      '{',
      '  "status": "completed",',
      '  "steps": {',
      '    "session_note": "done",',
      '    "current_state": "done"',
    ]);
    expect(text.endsWith('}')).toBe(true);
    const file = JSON.parse(text);
    expect(Object.keys(file)).toEqual(['status', 'steps', 'started_at', 'finished_at', 'run']);
    for (const time of [file.started_at, file.finished_at])
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
  });

  it('AH-15: records run id, attempts, times and errors of each step, in UTC', async () => {
    const checkpoint = makeCheckpoint();
    await expect(makeEngine(checkpoint, ['a', 'b'], 'b').run()).rejects.toThrow('step "b" failed: no network');
    const { run, steps, status } = checkpoint.load();
    expect(status).toBe('in_progress');
    expect([...steps]).toEqual([
      ['a', 'done'],
      ['b', 'pending'],
    ]);
    expect(run?.id).toMatch(/^\d{8}-\d{6}-[0-9a-z]{4}$/);
    expect(run?.steps.get('a')).toMatchObject({ attempts: 1, error: null });
    expect(run?.steps.get('a')?.finished_at).toMatch(/\+00:00$/);
    expect(run?.steps.get('b')).toMatchObject({
      attempts: 1,
      error: 'step "b" failed: no network',
      finished_at: null,
    });
    await makeEngine(checkpoint, ['a', 'b']).run();
    const after = checkpoint.load().run;
    expect(after).toMatchObject({ id: run?.id, attempts: 2 });
    expect(after?.steps.get('b')).toMatchObject({ attempts: 2, error: null });
  });

  // At any moment it is another day than in UTC in one of them.
  it.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
    'AH-15: notes have the day of the run, in %s too',
    async (TZ) => {
      const sandbox = makeSandbox();
      await sandbox.ok(['run', '--note', 'x'], { env: { TZ } });
      const { startedAt } = new Checkpoint(undefined, sandbox.machine).load();
      const day = startedAt?.slice(0, 10) ?? '';
      expect(readdirSync(join(sandbox.project, 'memory', 'layer1', day.slice(0, 7)))).toEqual([`general-${day}.md`]);
    },
  );

  it('is read in the format of the original, and written back unchanged', () => {
    const name = fc.stringMatching(/^[a-z][a-z_ -]{0,20}$/);
    const state: fc.Arbitrary<RunState> = fc.record({
      status: fc.constantFrom('none', 'in_progress', 'completed'),
      steps: fc
        .array(fc.tuple(name, fc.constantFrom('pending' as const, 'done' as const)))
        .map((entries) => new Map(entries)),
      startedAt: fc.option(fc.string()),
      finishedAt: fc.option(fc.string()),
      run: fc.constant(null),
    });
    fc.assert(
      fc.property(state, (given) => {
        const text = formatCheckpoint(given);
        expect(parseCheckpoint(text, 'x')).toEqual(given);
        expect(readResumeCode(text)).toBe({ none: 0, in_progress: 1, completed: 2 }[given.status]);
      }),
    );
  });

  it('is either read or refused as damaged, whatever its content', () => {
    const value = fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .record({ status: fc.jsonValue(), steps: fc.jsonValue(), run: fc.jsonValue() })
        .map((file) => JSON.stringify(file)),
    );
    fc.assert(
      fc.property(value, (text) => {
        const quick = readResumeCode(text);
        try {
          const { status } = parseCheckpoint(text, 'x');
          expect(quick).toBe({ none: 0, in_progress: 1, completed: 2 }[status]);
        } catch (error) {
          expect(error).toMatchObject({ code: 'HANDOVER_CHECKPOINT_DAMAGED' });
        }
      }),
    );
  });
});

describe('resuming a run', () => {
  it('AH-1: repeats no step of a run whose steps are done but which was not completed', async () => {
    const checkpoint = makeCheckpoint();
    checkpoint.start(['a', 'b']);
    checkpoint.markDone('a');
    checkpoint.markDone('b');
    expect(checkpoint.resumeCode()).toBe(1);
    const engine = makeEngine(checkpoint, ['a', 'b']);
    expect(await engine.run()).toEqual([]);
    expect(engine.ran).toEqual([]);
    expect(checkpoint.resumeCode()).toBe(2);
  });

  it('AH-2: executes an added step, and the next run executes all', async () => {
    const checkpoint = makeCheckpoint();
    await makeEngine(checkpoint, ['a', 'c'], 'c')
      .run()
      .catch(() => undefined);
    expect(await makeEngine(checkpoint, ['a', 'b', 'c']).run()).toEqual(['b', 'c']);
    expect(checkpoint.load().run?.changes).toEqual(['step "b" was added, and is to be done']);
    expect([...checkpoint.load().steps.keys()]).toEqual(['a', 'b', 'c']);
    expect(await makeEngine(checkpoint, ['a', 'b', 'c']).run()).toEqual(['a', 'b', 'c']);
  });

  it('AH-3: executes a renamed step under its new name, and drops the old one', async () => {
    const checkpoint = makeCheckpoint();
    await makeEngine(checkpoint, ['a', 'old'], 'old')
      .run()
      .catch(() => undefined);
    expect(await makeEngine(checkpoint, ['a', 'new']).run()).toEqual(['new']);
    expect(checkpoint.load().run?.changes).toEqual([
      'step "new" was added, and is to be done',
      'step "old" was taken away, and had not been done',
    ]);
    expect(await makeEngine(checkpoint, ['a', 'new']).run()).toEqual(['a', 'new']);
  });

  it('continues a run that the original began', async () => {
    const checkpoint = makeCheckpoint();
    mkdirSync(dirname(checkpoint.path), { recursive: true });
    writeFileSync(
      checkpoint.path,
      '{"status": "in_progress", "steps": {"a": "done", "b": "pending"}, "started_at": "2026-11-15T11:58:49.924656+00:00", "finished_at": null}',
    );
    expect(await makeEngine(checkpoint, ['a', 'b']).run()).toEqual(['b']);
    expect(checkpoint.load()).toMatchObject({
      status: 'completed',
      startedAt: '2026-11-15T11:58:49.924656+00:00',
    });
  });

  it('is not completed while a step is pending', () => {
    const checkpoint = makeCheckpoint();
    checkpoint.start(['a', 'b']);
    checkpoint.markDone('a');
    expect(() => checkpoint.complete()).toThrow('pending steps: b');
    expect(checkpoint.resumeCode()).toBe(1);
  });

  it('refuses step names that a checkpoint cannot store', () => {
    const checkpoint = makeCheckpoint();
    for (const name of ['', '7', '__proto__', 'a\nb', '\u202ea', 'x'.repeat(101)])
      expect(() => checkpoint.start([name]), name).toThrow('cannot name a step');
    expect(() => checkpoint.start(['a', 'a'])).toThrow('same name');
  });
});

describe('handover check', () => {
  it('exits with 0, 1 or 2 without output', async () => {
    const sandbox = makeSandbox();
    const checkpoint = new Checkpoint('.agent-handover/checkpoint.json', sandbox.machine);
    const ask = async (...args: string[]) => await sandbox.run(['check', ...args]);
    expect(await ask()).toEqual({ status: 0, stdout: '', stderr: '' });
    checkpoint.start(['a']);
    expect(await ask()).toEqual({ status: 1, stdout: '', stderr: '' });
    checkpoint.record({ done: { name: 'a' }, completed: true });
    expect(await ask()).toEqual({ status: 2, stdout: '', stderr: '' });
    expect((await ask('--checkpoint', 'elsewhere.json')).status).toBe(0);
    const env = { AGENT_HANDOVER_CHECKPOINT: join(sandbox.project, 'elsewhere.json') };
    expect((await sandbox.run(['check'], { env })).status).toBe(0);
    expect((await sandbox.run(['check', '--checkpoint', checkpoint.path], { env })).status).toBe(2);
    mkdirSync(join(sandbox.project, 'src'));
    expect((await sandbox.run(['check'], { cwd: join(sandbox.project, 'src') })).status).toBe(2);
    expect(JSON.parse((await ask('--json')).stdout)).toMatchObject({ code: 2, status: 'completed' });
  });

  it('AH-4: has own exit statuses for damage, an unreadable file and wrong arguments', async () => {
    const sandbox = makeSandbox();
    const path = join(sandbox.project, '.agent-handover', 'checkpoint.json');
    mkdirSync(dirname(path));
    for (const text of ['{', '', '[]', '{"status":"what","steps":{}}', '{"status":"none","steps":{"a":"maybe"}}']) {
      writeFileSync(path, text);
      expect((await sandbox.run(['check'])).status, text).toBe(65);
      expect((await sandbox.run(['status'])).status, text).toBe(65);
    }
    expect((await sandbox.run(['check', '--bogus'])).status).toBe(64);
    expect((await sandbox.run(['check', 'word'])).status).toBe(64);
    expect((await sandbox.run(['check', '--checkpoint'])).status).toBe(64);
    mkdirSync(join(sandbox.project, 'folder.json'));
    expect((await sandbox.run(['check', '--checkpoint', 'folder.json'])).status).toBe(74);
    if (process.getuid?.() === 0) return;
    chmodSync(path, 0o000);
    expect((await sandbox.run(['check'])).status).toBe(74);
  });

  it('keeps a damaged checkpoint aside on a restart', async () => {
    const checkpoint = makeCheckpoint();
    mkdirSync(dirname(checkpoint.path));
    writeFileSync(checkpoint.path, '{broken');
    expect(() => checkpoint.start(['a'])).toThrow('is damaged');
    checkpoint.start(['a'], { restart: true });
    const [kept = ''] = readdirSync(dirname(checkpoint.path)).filter((name) => name.includes('damaged'));
    expect(readFileSync(join(dirname(checkpoint.path), kept), 'utf8')).toBe('{broken');
  });
});
