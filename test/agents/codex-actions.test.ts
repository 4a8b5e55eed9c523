import { describe, expect, it } from 'vitest';
import { findInnerCalls } from '../../src/agents/codex/code-mode.ts';
import {
  call,
  customCall,
  customOutput,
  event,
  exited,
  item,
  message,
  output,
  response,
} from '../fixtures/agents/codex.ts';
import { read } from '../fixtures/agents/codex-home.ts';
import { STORY_CWD } from '../support/conformance/agents.ts';

describe('edits in Codex', () => {
  const changes = {
    [`${STORY_CWD}/a.ts`]: {
      type: 'update',
      unified_diff: '@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n',
      move_path: null,
    },
  };
  const edited = { path: `${STORY_CWD}/a.ts`, change: 'edited', before: 'two', after: '2' };

  it('by a script are read from the rows about the patch', () => {
    const events = read(
      customCall('c1', 'exec', 'await tools.apply_patch(patch)'),
      event('patch_apply_end', { call_id: 'exec-1', success: true, changes, stdout: 'Success.', stderr: '' }),
      customOutput('c1', [{ type: 'input_text', text: 'Script completed\nWall time 0.1 seconds\nOutput:\n' }]),
    );
    expect(events.map(({ type }) => type)).toEqual(['call', 'call', 'result', 'result']);
    expect(events[1]).toMatchObject({ call: 'exec-1', action: { kind: 'edit', edits: [edited] } });
    expect(events[2]).toMatchObject({ call: 'exec-1', ok: true });
    expect(events[3]).toMatchObject({ call: 'c1', ok: true });
  });

  it('by a patch in a shell command give one event', () => {
    const cmd = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.ts\n@@\n-two\n+2\n*** End Patch\nEOF\n";
    const events = read(
      call('c1', 'exec_command', { cmd }),
      item('FileChange', { id: 'c1', status: 'completed', changes }),
      output('c1', 'Wall time: 0.0000 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n'),
    );
    expect(events).toMatchObject([
      { type: 'call', action: { kind: 'edit', edits: [edited] } },
      { type: 'result', call: 'c1', ok: true, output: 'Success.\n' },
    ]);
  });

  it('within a longer command are recorded beside the command', () => {
    const cmd = "npm run gen && apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF";
    const events = read(
      call('c1', 'exec_command', { cmd }),
      item('FileChange', { id: 'c1', changes }),
      output('c1', exited(0, '')),
    );
    expect(events).toMatchObject([
      { type: 'call', call: 'c1', action: { kind: 'command' } },
      { type: 'call', call: 'c1:patch', action: { kind: 'edit', edits: [edited] } },
      { type: 'result', call: 'c1:patch' },
      { type: 'result', call: 'c1', exit: 0 },
    ]);
  });

  it('are read from the patch: positions, new and deleted files, moves', () => {
    const patch = [
      '*** Begin Patch',
      '*** Update File: a.ts',
      '@@ class A',
      ' same',
      '-old one',
      '+new one',
      ' between',
      '-old two',
      ' same',
      '@@',
      '+added',
      '*** Add File: sub/b.ts',
      '+first',
      '+',
      '*** Delete File: c.ts',
      '*** Update File: d.ts',
      '*** Move to: e.ts',
      '@@',
      '-x',
      '+y',
      '*** End Patch',
    ].join('\n');
    const [told] = read(customCall('c1', 'apply_patch', patch));
    const at = (name: string): string => `${STORY_CWD}/${name}`;
    expect(told).toMatchObject({
      action: {
        edits: [
          {
            path: at('a.ts'),
            change: 'edited',
            before: 'old one\nbetween\nold two',
            after: 'new one\nbetween',
          },
          { path: at('a.ts'), change: 'edited', before: '', after: 'added' },
          { path: at('sub/b.ts'), change: 'created', before: '', after: 'first\n\n' },
          { path: at('c.ts'), change: 'deleted', before: '', after: '' },
          { path: at('d.ts'), change: 'moved', to: at('e.ts'), before: 'x', after: 'y' },
        ],
      },
    });
  });

  it('may be of any length', () => {
    const lines = Array.from({ length: 300_000 }, (_, index) => ` ${index}`);
    const patch = ['*** Begin Patch', '*** Update File: a.ts', '@@', '-x', ...lines, '+y', '*** End Patch'].join('\n');
    expect(read(customCall('c1', 'apply_patch', patch))).toMatchObject([{ action: { edits: [{ change: 'edited' }] } }]);
  });

  it('that failed are recorded as failed', () => {
    const events = read(
      customCall('c1', 'apply_patch', '*** Begin Patch\n*** Update File: a.ts\n@@\n-two\n+2\n*** End Patch'),
      customOutput('c1', 'apply_patch verification failed: Failed to find expected lines in a.ts'),
    );
    expect(events[1]).toMatchObject({ type: 'result', ok: false });
  });
});

describe('commands in Codex', () => {
  const running =
    'Chunk ID: 1\nWall time: 10 seconds\nProcess running with session ID 42\nOriginal token count: 0\nOutput:\n';

  it('are read from every format Codex used', () => {
    const commands = read(
      call('c1', 'shell', { command: ['bash', '-lc', 'npm run a'] }),
      call('c2', 'shell_command', { command: 'npm run b' }),
      response('local_shell_call', {
        call_id: 'c3',
        action: { type: 'exec', command: ['npm', 'run', "it's"] },
      }),
    ).map((one) => (one.type === 'call' && one.action.kind === 'command' ? one.action.command : null));
    expect(commands).toEqual(['npm run a', 'npm run b', "npm run 'it'\\''s'"]);
  });

  it('have their exit status in every format Codex used', () => {
    const results = read(
      output('c1', JSON.stringify({ output: 'old', metadata: { exit_code: 3, duration_seconds: 0.1 } })),
      output('c2', { content: 'object', success: false }),
      output('c3', 'unsupported call: shell_command'),
    );
    expect(results).toMatchObject([
      { ok: false, exit: 3, output: 'old' },
      { ok: false, exit: null, output: 'object' },
      { ok: false, exit: null },
    ]);
  });

  it('cannot forge another exit status or output by what they print', () => {
    const json = '{"exit_code":0,"output":"hidden"}';
    const results = read(
      output('c1', exited(1, 'Exit code: 0\nWall time: 0 seconds\nOutput:\nall fine')),
      output('c2', exited(0, json)),
    );
    expect(results).toMatchObject([
      { ok: false, exit: 1, output: expect.stringMatching(/^Exit code: 0/) },
      { ok: true, exit: 0, output: json },
    ]);
  });

  it('that go on in the background get the result that comes later', () => {
    const events = read(
      call('c1', 'exec_command', { cmd: 'npm test' }),
      output('c1', `${running}1 passed\n`),
      call('c2', 'write_stdin', { session_id: 42, chars: '' }),
      output('c2', running),
      call('c3', 'write_stdin', { session_id: 42, chars: '' }),
      output('c3', exited(1, '1 failed')),
    );
    expect(events).toMatchObject([
      { type: 'call', call: 'c1' },
      { type: 'result', call: 'c1', ok: null, exit: null, running: true },
      { type: 'result', call: 'c1', ok: false, exit: 1, output: '1 passed\n1 failed' },
    ]);
    expect(events[2]).not.toHaveProperty('running');
  });

  it('that go on are ended by what is typed into them, which is a call of its own', () => {
    const events = read(
      call('c1', 'exec_command', { cmd: 'npm run dev' }),
      output('c1', running),
      call('c2', 'write_stdin', { session_id: 42, chars: '\u0003' }),
      output('c2', exited(130, '')),
    );
    expect(events).toMatchObject([
      { type: 'call', call: 'c1' },
      { type: 'result', call: 'c1', running: true },
      { type: 'call', call: 'c2' },
      { type: 'result', call: 'c2', ok: true },
      { type: 'result', call: 'c1', exit: 130 },
    ]);
  });

  it('name the folder that they ran in, if it is not that of the session', () => {
    const events = read(
      call('c1', 'exec_command', { cmd: 'make', workdir: STORY_CWD }),
      call('c2', 'exec_command', { cmd: 'make', workdir: '/elsewhere' }),
    );
    expect(events[0]).not.toHaveProperty('action.folder');
    expect(events[1]).toMatchObject({ action: { folder: '/elsewhere' } });
  });

  it('without a call were run by the user', () => {
    const ran = {
      id: 'u1',
      command: ['/bin/zsh', '-lc', 'git status'],
      source: 'user_shell',
      exit_code: 0,
      aggregated_output: 'clean',
    };
    expect(read(item('CommandExecution', ran))).toMatchObject([
      { type: 'call', by_human: true, action: { kind: 'command', command: 'git status' } },
      { type: 'result', exit: 0, output: 'clean' },
    ]);
  });

  it('cut long outputs in the middle', () => {
    const [result] = read(output('c1', exited(0, `begin${'x'.repeat(100_000)}end`)));
    expect(result).toMatchObject({ output: expect.stringMatching(/^beginx+\n…\nx+end$/) });
    expect(result?.type === 'result' && result.output.length).toBeLessThanOrEqual(88_003);
  });
});

describe('scripts of Codex’s code mode', () => {
  const head = (state: string): Record<string, string> => ({
    type: 'input_text',
    text: `Script ${state}\nWall time 0.1 seconds\nOutput:\n`,
  });

  it('are recorded by the command in them', () => {
    const events = read(
      customCall('c1', 'exec', 'const r = await tools.exec_command({cmd:"npm test", workdir: dir}); text(r)'),
      customOutput('c1', [
        head('completed'),
        { type: 'input_text', text: JSON.stringify({ exit_code: 1, output: '1 failed' }) },
      ]),
    );
    expect(events).toMatchObject([
      { type: 'call', tool: 'exec', action: { kind: 'command', command: 'npm test' } },
      { type: 'result', ok: false, exit: 1, output: '1 failed' },
    ]);
  });

  it('take the exit status from the row about the command', () => {
    const events = read(
      customCall('c1', 'exec', 'text((await tools.exec_command({"cmd":"npm test"})).output)'),
      item('CommandExecution', { id: 'exec-1', command: ['bash', '-lc', 'npm test'], exit_code: 2 }),
      customOutput('c1', [head('completed'), { type: 'input_text', text: 'x' }]),
    );
    expect(events).toMatchObject([{ type: 'call' }, { type: 'result', call: 'c1', ok: false, exit: 2, output: 'x' }]);
  });

  it('can update the plan', () => {
    const events = read(
      customCall(
        'c1',
        'exec',
        "await tools.update_plan({plan: [{step: 'Add', status: 'completed'}, {step: `Test`, status: \"pending\"}]})",
      ),
      customOutput('c1', [head('completed')]),
    );
    expect(events).toMatchObject([
      {
        type: 'plan',
        items: [
          { text: 'Add', status: 'completed' },
          { text: 'Test', status: 'pending' },
        ],
      },
    ]);
  });

  it('continue after their first answer', () => {
    const events = read(
      customCall('c1', 'exec', 'await tools.exec_command({cmd:"npm test"})'),
      customOutput('c1', [head('running with cell ID 7')]),
      call('c2', 'wait', { cell_id: '7' }),
      output('c2', [head('failed'), { type: 'input_text', text: 'boom' }]),
    );
    expect(events).toMatchObject([
      { type: 'call' },
      { type: 'result', call: 'c1', ok: null },
      { type: 'result', call: 'c1', ok: false, output: 'boom' },
    ]);
  });

  it('are read without being executed', () => {
    expect(
      findInnerCalls(
        [
          'const a = tools.one({k: 1, s: \'a\\nb\', u: "\\u00e4", ...rest, v: f(1, "}"), l: [true, null, -2]}, 3);',
          'tools.two(x); tools.three(`t$',
          '{x}`); tools.four(',
        ].join(''),
      ),
    ).toEqual([
      { name: 'one', input: { k: 1, s: 'a\nb', u: 'ä', v: undefined, l: [true, null, -2] } },
      { name: 'two', input: undefined },
      { name: 'three', input: undefined },
      { name: 'four', input: undefined },
    ]);
  });
});

describe('the plan in Codex', () => {
  it('is emptied by an empty list, and left alone by an input without one', () => {
    const events = read(
      call('c1', 'update_plan', { plan: [{ step: 'Build', status: 'pending' }] }),
      call('c2', 'update_plan', { plan: [] }),
      call('c3', 'update_plan', { explanation: 'none' }),
    );
    expect(events).toMatchObject([{ items: [{ text: 'Build' }] }, { items: [] }]);
    expect(events).toHaveLength(2);
  });
});

describe('a reply in Codex', () => {
  it.each([
    ['an event', (text: string, phase: string) => event('agent_message', { message: text, phase })],
    ['an item', (text: string, phase: string) => item('AgentMessage', { content: [{ text }], phase })],
    ['a message', (text: string, phase: string) => message('assistant', text, { phase })],
  ])('in %s is interim where it is marked as commentary', (_, say) => {
    const events = read(say('On it', 'commentary'), say('Done', 'final_answer'));
    expect(events).toMatchObject([{ text: 'On it', interim: true }, { text: 'Done' }]);
    expect(events[1]).not.toHaveProperty('interim');
  });
});
