import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../src/memory/memory-store.ts';
import { Checkpoint } from '../../../src/memory/runs/checkpoint.ts';
import { type Desk, errorCode, makeDesk } from '../../support/cli.ts';
import { configure } from '../../support/publishing.ts';

function declare(desk: Desk, toml: string): void {
  writeFileSync(join(desk.project, 'handover.toml'), toml);
}

function declareOwn(desk: Desk, toml: string): string {
  const folder = join(desk.home, '.config', 'agent-handover');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'own.toml'), toml);
  return join(folder, 'own.toml');
}

function read(desk: Desk, path: string): string {
  return readFileSync(join(desk.project, path), 'utf8');
}

function readNotes(desk: Desk, tag = 'general'): string {
  const [month = ''] = readdirSync(join(desk.project, 'memory', 'layer1'));
  const [name = ''] = readdirSync(join(desk.project, 'memory', 'layer1', month)).filter((file) =>
    file.startsWith(`${tag}-`),
  );
  return read(desk, join('memory', 'layer1', month, name));
}

describe('handover run', () => {
  it('behaves like the original with its configuration', async () => {
    const desk = makeDesk();
    declare(
      desk,
      '[handover]\nmemory_dir = "notes"\ntag = "codex"\n\n[note]\nsession = "did a thing"\n\n[backend]\ntype = "null"\n',
    );
    expect(await desk.ok(['run', '--dry-run', '--config', 'handover.toml'])).toBe(
      [
        `memory_dir: ${join(desk.project, 'notes')}`,
        'tag: codex',
        `checkpoint: ${join(desk.project, '.agent-handover', 'checkpoint.json')}`,
        'backend: none',
        'steps: session_note, current_state',
        '',
      ].join('\n'),
    );
    expect(readdirSync(desk.project)).toEqual(['handover.toml']);
    expect(await desk.ok(['run', '--config', 'handover.toml'])).toBe(
      'handover steps executed: session_note, current_state\n',
    );
    expect(read(desk, 'notes/layer2/current-state.md')).toMatch(
      /^<!-- agent-handover \| layer2 \| .* -->\n.*\ndid a thing\n$/,
    );
    expect(await desk.ok(['status'])).toMatch(
      /^status: completed\n {2}\[x\] session_note\n {2}\[x\] current_state\nrun: /,
    );
  });

  it('shows in status the latest handover of this worktree, and whether it is pending', async () => {
    const desk = makeDesk();
    expect(await desk.json(['status'])).toMatchObject({ status: 'none', newest: null, hook_failures: [] });
    const id = await desk.save('--title', 'Retries', '--summary', 'raised');
    expect(await desk.ok(['status'])).toBe(`status: none\nnewest: Retries (${id}, just now, pending)\n`);
    await desk.ok(['restore']);
    expect(await desk.json(['status'])).toMatchObject({ newest: { id, status: 'consumed' } });
  });

  it('executes the declared steps with the facts of a handover, and records what each wrote', async () => {
    const desk = makeDesk();
    const id = await desk.save('--title', 'Retries', '--decision', 'Only on 502', '--next', 'Write the test');
    declare(
      desk,
      '[[step]]\nkind = "note"\n[[step]]\nkind = "current_state"\n[[step]]\nkind = "snapshot"\nmode = "build"\n[[step]]\nkind = "compact"\n',
    );
    const { executed } = await desk.json<{ executed: string[] }>(['run']);
    expect(executed).toEqual(['note', 'current_state', 'snapshot', 'compact']);
    expect(readNotes(desk)).toContain(`Handover ${id}`);
    expect(readNotes(desk)).toContain('## Decisions\n- Only on 502\n');
    expect(read(desk, 'HANDOFF.md')).toContain('- Write the test');
    const { run } = new Checkpoint('.agent-handover/checkpoint.json', desk.machine).load();
    expect(run?.steps.get('note')?.effect).toMatch(/^memory\/layer1\/\d{4}-\d\d\/general-.*\.md$/);
    expect(run?.steps.get('snapshot')?.effect).toBe('HANDOFF.md');
    expect(run?.inputs).toEqual(new Map());
  });

  it('continues where it was interrupted, with the same input, and repeats nothing', async () => {
    const desk = makeDesk();
    const marker = join(desk.folder, 'may-pass');
    const own = declareOwn(
      desk,
      `[[step]]\nkind = "note"\n[[step]]\nkind = "command"\nname = "gate"\nargv = ["test", "-e", "${marker}"]\n[[step]]\nkind = "current_state"\n`,
    );
    const first = await desk.run(['run', '--config', own, '--note', 'only once']);
    expect(first).toMatchObject({ status: 75, stdout: '' });
    expect(first.stderr).toContain('step "gate" failed: test ended with status 1');
    expect((await desk.run(['check'])).status).toBe(1);
    expect(await desk.ok(['status'])).toContain('pending: gate, current_state\n');
    writeFileSync(marker, '');
    const second = await desk.run(['run', '--config', own, '--resume']);
    expect(second.stdout).toBe('handover steps executed: gate, current_state\n');
    expect(second.stderr).toContain('already done: note');
    expect(read(desk, 'memory/layer2/current-state.md')).toContain('only once');
    expect(new MemoryStore(join(desk.project, 'memory'), desk.machine).countNotes()).toBe(1);
    expect(await desk.ok(['run', '--config', own, '--resume'])).toContain('nothing to resume');
  });

  it('writes a note once even if its completion was not recorded', async () => {
    const desk = makeDesk();
    await desk.ok(['run', '--note', 'one']);
    const path = join(desk.project, '.agent-handover', 'checkpoint.json');
    const file = JSON.parse(readFileSync(path, 'utf8'));
    file.status = 'in_progress';
    file.steps = { session_note: 'pending', current_state: 'pending' };
    file.run.inputs = { note: 'one' };
    writeFileSync(path, JSON.stringify(file));
    await desk.ok(['run']);
    expect(new MemoryStore(join(desk.project, 'memory'), desk.machine).countNotes()).toBe(1);
    expect(existsSync(join(desk.project, 'memory', 'layer2', 'history'))).toBe(false);
  });

  it('says which steps were added and removed since it was interrupted', async () => {
    const desk = makeDesk();
    const own = declareOwn(desk, '[[step]]\nkind = "note"\n[[step]]\nkind = "command"\nargv = ["false"]\n');
    await desk.run(['run', '--config', own, '--note', 'x']);
    const other = declareOwn(desk, '[[step]]\nkind = "note"\n[[step]]\nkind = "compact"\n');
    const { stdout, stderr } = await desk.run(['run', '--config', other]);
    expect(stdout).toBe('handover steps executed: compact\n');
    expect(stderr).toContain('step "compact" was added, and is to be done');
    expect(stderr).toContain('step "command" was taken away, and had not been done');
  });

  it('writes no recognisable secret into the memory or the checkpoint', async () => {
    const desk = makeDesk();
    const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}`;
    const own = declareOwn(
      desk,
      `[[step]]\nkind = "note"\n[[step]]\nkind = "current_state"\ntext = "key ${token}"\n[[step]]\nkind = "command"\nargv = ["false"]\n`,
    );
    await desk.run(['run', '--config', own, '--note', `pushed with ${token}`]);
    const written = [
      readNotes(desk),
      read(desk, 'memory/layer2/current-state.md'),
      read(desk, '.agent-handover/checkpoint.json'),
    ];
    expect(written.filter((text) => text.includes(token))).toEqual([]);
    expect(written[0]).toContain('pushed with ');
  });

  it('starts over with --restart, and refuses --restart with --resume', async () => {
    const desk = makeDesk();
    const own = declareOwn(desk, '[[step]]\nkind = "note"\n[[step]]\nkind = "command"\nargv = ["false"]\n');
    await desk.run(['run', '--config', own, '--note', 'x']);
    expect(await desk.ok(['run', '--restart', '--note', 'y'])).toContain('session_note, current_state');
    expect((await desk.run(['run', '--restart', '--resume'])).status).toBe(64);
  });

  it('refuses a run without a text to note before it starts', async () => {
    const desk = makeDesk();
    expect(await desk.run(['run'])).toMatchObject({ status: 64, stdout: '' });
    expect((await desk.run(['check'])).status).toBe(0);
  });

  it('starts nothing for an empty text, or a folder as its configuration', async () => {
    const desk = makeDesk();
    for (const flags of [
      ['--note', ' \n'],
      ['--note', 'x', '--current-state', ''],
    ])
      expect((await desk.run(['run', ...flags])).status, flags.join(' ')).toBe(64);
    expect((await desk.run(['run', '--note', 'x', '--config', '.'])).status).toBe(66);
    expect(readdirSync(desk.project)).toEqual([]);
  });

  it('says how to continue with a named configuration', async () => {
    const desk = makeDesk();
    const own = declareOwn(desk, '[[step]]\nkind = "command"\nargv = ["false"]\n');
    const { stderr } = await desk.run(['run', '--config', own]);
    expect(stderr).toContain('handover run --resume (and --config, if it was given)');
  });

  it('is executed by one process at a time', async () => {
    const desk = makeDesk();
    const goOn = join(desk.folder, 'go-on');
    const wait = `until [ -e ${goOn} ]; do sleep 0.05; done`;
    const own = declareOwn(desk, `[[step]]\nkind = "command"\nargv = ["sh", "-c", "${wait}"]\n`);
    const runs = [1, 2].map(() => desk.run(['run', '--config', own, '--json']));
    const refused = await Promise.race(runs);
    writeFileSync(goOn, '');
    expect([refused.status, errorCode(refused)]).toEqual([75, 'HANDOVER_LOCKED']);
    const [one, two] = await Promise.all(runs);
    expect([one?.status, two?.status].sort()).toEqual([0, 75]);
  });
});

describe('a run configuration in the project', () => {
  it('runs no command', async () => {
    const desk = makeDesk();
    const canary = join(desk.folder, 'canary');
    const toml = `[[step]]\nkind = "command"\nargv = ["touch", "${canary}"]\n`;
    declare(desk, toml);
    writeFileSync(join(desk.folder, 'beside.toml'), toml);
    for (const args of [['run'], ['run', '--config', 'handover.toml'], ['run', '--config', '../beside.toml']]) {
      const result = await desk.run([...args, '--json']);
      expect(result.status, args.join(' ')).toBe(77);
      expect(errorCode(result)).toBe('HANDOVER_PERMISSION');
    }
    expect(existsSync(canary)).toBe(false);
    expect(existsSync(join(desk.project, '.agent-handover'))).toBe(false);
  });

  it('cannot refer outside the project', async () => {
    const desk = makeDesk();
    for (const line of ['memory_dir = "../elsewhere"', 'memory_dir = "~/notes"', 'checkpoint = "/tmp/x.json"']) {
      declare(desk, `[handover]\n${line}\n`);
      expect((await desk.run(['run', '--note', 'x'])).status, line).toBe(77);
    }
    expect(readdirSync(desk.home)).toEqual([]);
  });
});

/** The folder that memory is then published to. */
function publishToFolder(desk: Desk, more = ''): string {
  const away = join(desk.folder, 'away');
  mkdirSync(away);
  configure(desk, `${more}[publish]\nbackend = "folder"\n[publish.folder]\npath = "${away}"\n`);
  return away;
}

describe('a PAUSE file', () => {
  it('does not stop dry runs', async () => {
    const desk = makeDesk();
    publishToFolder(desk);
    await desk.ok(['pause']);
    for (const args of [['run', '--note', 'x'], ['push'], ['compact']]) await desk.ok([...args, '--dry-run']);
  });

  it('stops auto between its two steps', async () => {
    const desk = makeDesk();
    const away = publishToFolder(desk, '[handover]\npause_file = "HANDOFF.md"\n');
    expect((await desk.run(['auto'])).status).toBe(75);
    expect(existsSync(join(desk.project, 'HANDOFF.md'))).toBe(true);
    expect(readdirSync(away)).toEqual([]);
  });

  it('stops resume from capturing, but not from printing the brief', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'Retries', '--next', 'Write the test');
    await desk.ok(['pause']);
    const { status, stdout, stderr } = await desk.run(['resume']);
    expect([status, stdout.includes('Write the test')]).toEqual([0, true]);
    expect(stderr).toContain('PAUSE: no session is captured');
  });

  it('created during a run stops it before the next step, and the run continues later', async () => {
    const desk = makeDesk();
    const brake = join(desk.project, '.agent-handover', 'PAUSE');
    const own = declareOwn(
      desk,
      `[[step]]\nkind = "command"\nname = "brake"\nargv = ["touch", "${brake}"]\n[[step]]\nkind = "note"\n`,
    );
    expect((await desk.run(['run', '--config', own, '--note', 'later'])).status).toBe(75);
    expect((await desk.run(['check'])).status).toBe(1);
    expect(await desk.ok(['status'])).toContain('  [x] brake\n  [ ] note\n');
    expect(await desk.ok(['unpause'])).toBe('unpaused\n');
    expect(await desk.ok(['run', '--config', own])).toBe('handover steps executed: note\n');
    expect(readNotes(desk)).toContain('later');
  });

  it('is created and removed by pause and unpause, for one project or globally', async () => {
    const desk = makeDesk();
    mkdirSync(join(desk.project, '.agent-handover'));
    mkdirSync(join(desk.project, 'deep'));
    await desk.ok(['pause', '--why', 'release\nday'], { cwd: join(desk.project, 'deep') });
    expect(read(desk, '.agent-handover/PAUSE')).toBe('release day\n');
    await desk.ok(['pause', '--everywhere']);
    expect(existsSync(join(desk.home, '.agent_handover', 'PAUSE'))).toBe(true);
    expect((await desk.run(['unpause'])).stderr).toContain('still paused by');
    expect(await desk.ok(['unpause', '--everywhere'])).toBe('unpaused\n');
    expect(await desk.ok(['unpause'])).toBe('it was not paused here\n');
  });
});
