import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../src/memory/memory-store.ts';
import { Checkpoint } from '../../../src/memory/runs/checkpoint.ts';
import { errorCode, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { configure } from '../../support/publishing.ts';

function declare(sandbox: Sandbox, toml: string): void {
  writeFileSync(join(sandbox.project, 'handover.toml'), toml);
}

function declareOwn(sandbox: Sandbox, toml: string): string {
  const folder = join(sandbox.home, '.config', 'agent-handover');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'own.toml'), toml);
  return join(folder, 'own.toml');
}

function read(sandbox: Sandbox, path: string): string {
  return readFileSync(join(sandbox.project, path), 'utf8');
}

function readNotes(sandbox: Sandbox, tag = 'general'): string {
  const [month = ''] = readdirSync(join(sandbox.project, 'memory', 'layer1'));
  const [name = ''] = readdirSync(join(sandbox.project, 'memory', 'layer1', month)).filter((file) =>
    file.startsWith(`${tag}-`),
  );
  return read(sandbox, join('memory', 'layer1', month, name));
}

describe('handover run', () => {
  it('behaves like the original with its configuration', async () => {
    const sandbox = makeSandbox();
    declare(
      sandbox,
      '[handover]\nmemory_dir = "notes"\ntag = "codex"\n\n[note]\nsession = "did a thing"\n\n[backend]\ntype = "null"\n',
    );
    expect(await sandbox.ok(['run', '--dry-run', '--config', 'handover.toml'])).toBe(
      [
        `memory_dir: ${join(sandbox.project, 'notes')}`,
        'tag: codex',
        `checkpoint: ${join(sandbox.project, '.agent-handover', 'checkpoint.json')}`,
        'backend: none',
        'steps: session_note, current_state',
        '',
      ].join('\n'),
    );
    expect(readdirSync(sandbox.project)).toEqual(['handover.toml']);
    expect(await sandbox.ok(['run', '--config', 'handover.toml'])).toBe(
      'handover steps executed: session_note, current_state\n',
    );
    expect(read(sandbox, 'notes/layer2/current-state.md')).toMatch(
      /^<!-- agent-handover \| layer2 \| .* -->\n.*\ndid a thing\n$/,
    );
    expect(await sandbox.ok(['status'])).toMatch(
      /^status: completed\n {2}\[x\] session_note\n {2}\[x\] current_state\nrun: /,
    );
  });

  it('shows in status the latest handover of this worktree, and whether it is pending', async () => {
    const sandbox = makeSandbox();
    expect(await sandbox.json(['status'])).toMatchObject({ status: 'none', newest: null, hook_failures: [] });
    const id = await sandbox.save('--title', 'Retries', '--summary', 'raised');
    expect(await sandbox.ok(['status'])).toBe(`no run yet\nnewest: Retries (${id}, just now, pending)\n`);
    await sandbox.ok(['restore']);
    expect(await sandbox.json(['status'])).toMatchObject({ newest: { id, status: 'consumed' } });
  });

  it('executes the declared steps with the facts of a handover, and records what each wrote', async () => {
    const sandbox = makeSandbox();
    const id = await sandbox.save('--title', 'Retries', '--decision', 'Only on 502', '--next', 'Write the test');
    declare(
      sandbox,
      '[[step]]\nkind = "note"\n[[step]]\nkind = "current_state"\n[[step]]\nkind = "snapshot"\nmode = "build"\n[[step]]\nkind = "compact"\n',
    );
    const { executed } = await sandbox.json<{ executed: string[] }>(['run']);
    expect(executed).toEqual(['note', 'current_state', 'snapshot', 'compact']);
    expect(readNotes(sandbox)).toContain(`Handover ${id}`);
    expect(readNotes(sandbox)).toContain('## Decisions\n- Only on 502\n');
    expect(read(sandbox, 'HANDOFF.md')).toContain('- Write the test');
    const { run } = new Checkpoint('.agent-handover/checkpoint.json', sandbox.machine).load();
    expect(run?.steps.get('note')?.effect).toMatch(/^memory\/layer1\/\d{4}-\d\d\/general-.*\.md$/);
    expect(run?.steps.get('snapshot')?.effect).toBe('HANDOFF.md');
    expect(run?.inputs).toEqual(new Map());
  });

  it('continues where it was interrupted, with the same input, and repeats nothing', async () => {
    const sandbox = makeSandbox();
    const marker = join(sandbox.folder, 'may-pass');
    const own = declareOwn(
      sandbox,
      `[[step]]\nkind = "note"\n[[step]]\nkind = "command"\nname = "gate"\nargv = ["test", "-e", "${marker}"]\n[[step]]\nkind = "current_state"\n`,
    );
    const first = await sandbox.run(['run', '--config', own, '--note', 'only once']);
    expect(first).toMatchObject({ status: 75, stdout: '' });
    expect(first.stderr).toContain('step "gate" failed: test ended with status 1');
    expect((await sandbox.run(['check'])).status).toBe(1);
    expect(await sandbox.ok(['status'])).toContain('pending: gate, current_state\n');
    writeFileSync(marker, '');
    const second = await sandbox.run(['run', '--config', own, '--resume']);
    expect(second.stdout).toBe('handover steps executed: gate, current_state\n');
    expect(second.stderr).toContain('already done: note');
    expect(read(sandbox, 'memory/layer2/current-state.md')).toContain('only once');
    expect(new MemoryStore(join(sandbox.project, 'memory'), sandbox.machine).countNotes()).toBe(1);
    expect(await sandbox.ok(['run', '--config', own, '--resume'])).toContain('nothing to resume');
  });

  it('writes a note once even if its completion was not recorded', async () => {
    const sandbox = makeSandbox();
    await sandbox.ok(['run', '--note', 'one']);
    const path = join(sandbox.project, '.agent-handover', 'checkpoint.json');
    const file = JSON.parse(readFileSync(path, 'utf8'));
    file.status = 'in_progress';
    file.steps = { session_note: 'pending', current_state: 'pending' };
    file.run.inputs = { note: 'one' };
    writeFileSync(path, JSON.stringify(file));
    await sandbox.ok(['run']);
    expect(new MemoryStore(join(sandbox.project, 'memory'), sandbox.machine).countNotes()).toBe(1);
    expect(existsSync(join(sandbox.project, 'memory', 'layer2', 'history'))).toBe(false);
  });

  it('says which steps were added and removed since it was interrupted', async () => {
    const sandbox = makeSandbox();
    const own = declareOwn(sandbox, '[[step]]\nkind = "note"\n[[step]]\nkind = "command"\nargv = ["false"]\n');
    await sandbox.run(['run', '--config', own, '--note', 'x']);
    const other = declareOwn(sandbox, '[[step]]\nkind = "note"\n[[step]]\nkind = "compact"\n');
    const { stdout, stderr } = await sandbox.run(['run', '--config', other]);
    expect(stdout).toBe('handover steps executed: compact\n');
    expect(stderr).toContain('step "compact" was added, and is to be done');
    expect(stderr).toContain('step "command" was taken away, and had not been done');
  });

  it('writes no recognisable secret into the memory or the checkpoint', async () => {
    const sandbox = makeSandbox();
    const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}`;
    const own = declareOwn(
      sandbox,
      `[[step]]\nkind = "note"\n[[step]]\nkind = "current_state"\ntext = "key ${token}"\n[[step]]\nkind = "command"\nargv = ["false"]\n`,
    );
    await sandbox.run(['run', '--config', own, '--note', `pushed with ${token}`]);
    const written = [
      readNotes(sandbox),
      read(sandbox, 'memory/layer2/current-state.md'),
      read(sandbox, '.agent-handover/checkpoint.json'),
    ];
    expect(written.filter((text) => text.includes(token))).toEqual([]);
    expect(written[0]).toContain('pushed with ');
  });

  it('starts over with --restart, and refuses --restart with --resume', async () => {
    const sandbox = makeSandbox();
    const own = declareOwn(sandbox, '[[step]]\nkind = "note"\n[[step]]\nkind = "command"\nargv = ["false"]\n');
    await sandbox.run(['run', '--config', own, '--note', 'x']);
    expect(await sandbox.ok(['run', '--restart', '--note', 'y'])).toContain('session_note, current_state');
    expect((await sandbox.run(['run', '--restart', '--resume'])).status).toBe(64);
  });

  it('refuses a run without a text to note before it starts', async () => {
    const sandbox = makeSandbox();
    expect(await sandbox.run(['run'])).toMatchObject({ status: 64, stdout: '' });
    expect((await sandbox.run(['check'])).status).toBe(0);
  });

  it('starts nothing for an empty text, or a folder as its configuration', async () => {
    const sandbox = makeSandbox();
    for (const flags of [
      ['--note', ' \n'],
      ['--note', 'x', '--current-state', ''],
    ])
      expect((await sandbox.run(['run', ...flags])).status, flags.join(' ')).toBe(64);
    expect((await sandbox.run(['run', '--note', 'x', '--config', '.'])).status).toBe(66);
    expect(readdirSync(sandbox.project)).toEqual([]);
  });

  it('says how to continue with a named configuration', async () => {
    const sandbox = makeSandbox();
    const own = declareOwn(sandbox, '[[step]]\nkind = "command"\nargv = ["false"]\n');
    const { stderr } = await sandbox.run(['run', '--config', own]);
    expect(stderr).toContain('handover run --resume (and --config, if you used it)');
  });

  it('is executed by one process at a time', async () => {
    const sandbox = makeSandbox();
    const goOn = join(sandbox.folder, 'go-on');
    const wait = `until [ -e ${goOn} ]; do sleep 0.05; done`;
    const own = declareOwn(sandbox, `[[step]]\nkind = "command"\nargv = ["sh", "-c", "${wait}"]\n`);
    const runs = [1, 2].map(() => sandbox.run(['run', '--config', own, '--json']));
    const refused = await Promise.race(runs);
    writeFileSync(goOn, '');
    expect([refused.status, errorCode(refused)]).toEqual([75, 'HANDOVER_LOCKED']);
    const [one, two] = await Promise.all(runs);
    expect([one?.status, two?.status].sort()).toEqual([0, 75]);
  });
});

describe('a run configuration in the project', () => {
  it('runs no command', async () => {
    const sandbox = makeSandbox();
    const canary = join(sandbox.folder, 'canary');
    const toml = `[[step]]\nkind = "command"\nargv = ["touch", "${canary}"]\n`;
    declare(sandbox, toml);
    writeFileSync(join(sandbox.folder, 'beside.toml'), toml);
    for (const args of [['run'], ['run', '--config', 'handover.toml'], ['run', '--config', '../beside.toml']]) {
      const result = await sandbox.run([...args, '--json']);
      expect(result.status, args.join(' ')).toBe(77);
      expect(errorCode(result)).toBe('HANDOVER_PERMISSION');
    }
    expect(existsSync(canary)).toBe(false);
    expect(existsSync(join(sandbox.project, '.agent-handover'))).toBe(false);
  });
});

/** The folder that memory is then published to. */
function publishToFolder(sandbox: Sandbox, more = ''): string {
  const away = join(sandbox.folder, 'away');
  mkdirSync(away);
  configure(sandbox, `${more}[publish]\nbackend = "folder"\n[publish.folder]\npath = "${away}"\n`);
  return away;
}

describe('a PAUSE file', () => {
  it('does not stop dry runs', async () => {
    const sandbox = makeSandbox();
    publishToFolder(sandbox);
    await sandbox.ok(['pause']);
    for (const args of [['run', '--note', 'x'], ['push'], ['compact']]) await sandbox.ok([...args, '--dry-run']);
  });

  it('stops resume from capturing, but not from printing the brief', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'Retries', '--next', 'Write the test');
    await sandbox.ok(['pause']);
    const { status, stdout, stderr } = await sandbox.run(['resume']);
    expect([status, stdout.includes('Write the test')]).toEqual([0, true]);
    expect(stderr).toContain('PAUSE: no session is captured');
  });

  it('created during a run stops it before the next step, and the run continues later', async () => {
    const sandbox = makeSandbox();
    const pausing = join(sandbox.project, '.agent-handover', 'PAUSE');
    const own = declareOwn(
      sandbox,
      `[[step]]\nkind = "command"\nname = "pausing"\nargv = ["touch", "${pausing}"]\n[[step]]\nkind = "note"\n`,
    );
    expect((await sandbox.run(['run', '--config', own, '--note', 'later'])).status).toBe(75);
    expect((await sandbox.run(['check'])).status).toBe(1);
    expect(await sandbox.ok(['status'])).toContain('  [x] pausing\n  [ ] note\n');
    expect(await sandbox.ok(['unpause'])).toBe('unpaused\n');
    expect(await sandbox.ok(['run', '--config', own])).toBe('handover steps executed: note\n');
    expect(readNotes(sandbox)).toContain('later');
  });

  it('is created and removed by pause and unpause, for one project or globally', async () => {
    const sandbox = makeSandbox();
    mkdirSync(join(sandbox.project, '.agent-handover'));
    mkdirSync(join(sandbox.project, 'deep'));
    await sandbox.ok(['pause', '--why', 'release\nday'], { cwd: join(sandbox.project, 'deep') });
    expect(read(sandbox, '.agent-handover/PAUSE')).toBe('release day\n');
    await sandbox.ok(['pause', '--everywhere']);
    expect(existsSync(join(sandbox.home, '.agent_handover', 'PAUSE'))).toBe(true);
    expect((await sandbox.run(['unpause'])).stderr).toContain('still paused by');
    expect(await sandbox.ok(['unpause', '--everywhere'])).toBe('unpaused\n');
    expect(await sandbox.ok(['unpause'])).toBe('nothing was paused here\n');
  });
});
