import { describe, expect, it } from 'vitest';
import {
  agent,
  CWD,
  distillSession,
  done,
  edit,
  fail,
  open,
  refused,
  run,
  type Step,
  user,
  withRole,
} from '../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');

function logOf(...steps: Step[]): string[] {
  return withRole(distillSession(...steps), 'log').flatMap(({ text }) => text.split('\n'));
}

describe('the log of the last steps', () => {
  it('has no results of commands that show a file, and none without a word', () => {
    const steps = [run('sed -n 1,80p src/upload.ts', '  retry();\n}\n'), run('make', '100 %\n}')];
    expect(logOf(first, ...steps).filter((line) => line.includes('Result'))).toEqual([]);
    expect(logOf(first, run('ls src', 'upload.ts'))).toContain('  Result: upload.ts');
  });

  it('has messages and calls in their order, with what came of them', () => {
    expect(
      logOf(
        run('ls'),
        first,
        agent('I look for the client.'),
        done({ kind: 'search', pattern: 'upload', path: 'src' }, 'src/upload.ts', true, 'Grep'),
        run('npm test', 'one\ntwo\nthree\nfour\nTests: 5 passed'),
        agent('The upload tries again.'),
      ),
    ).toEqual([
      'Tool: tool {"command": "ls"}',
      'User: Make the upload retry when the server is busy',
      'Assistant: I look for the client.',
      'Tool: Grep {"pattern": "upload", "path": "src"}',
      '  Result: src/upload.ts',
      'Tool: tool {"command": "npm test"}',
      '  Result: two | three | four | Tests: 5 passed',
      'Assistant: The upload tries again.',
    ]);
  });

  it('shows the input of a call as JSON, whatever is in it', () => {
    const command = 'git commit -m "say \\"hello\\"\nand go"';
    const line = logOf(first, run(command)).find((text) => text.startsWith('Tool:')) ?? '';
    expect(JSON.parse(line.slice(line.indexOf('{')))).toEqual({ command });
  });

  it('quotes an edit word for word, from the first to the last line that it changes', () => {
    const inputOf = (...step: Parameters<typeof edit>): unknown => {
      const [line = ''] = logOf(edit(...step)).filter((text) => text.startsWith('Tool:'));
      return JSON.parse(line.slice(line.indexOf('{')));
    };
    const file_path = `${CWD}/src/upload.ts`;
    const before = 'open();\nif (busy) {\n  stop();\n}\nclose();';
    const after = 'open();\nif (busy) {\n  retry(5);\n}\nelse {\n  stop();\n}\nclose();';
    expect(inputOf('src/upload.ts', after, { before })).toEqual({
      file_path,
      new_string: '  retry(5);\n}\nelse {',
    });
    expect(inputOf('src/upload.ts', 'open();', { before: 'open();\nclose();' })).toEqual({
      file_path,
      old_string: 'open();\nclose();',
      new_string: '',
    });
  });

  it('has what a sub-agent reported', () => {
    const task = done({ kind: 'delegate', task: 'Find out who calls retry' }, 'Only `upload.ts` calls it.');
    expect(logOf(task)).toContain('  Result: Only `upload.ts` calls it.');
  });

  it('shows the newest edits at more length', () => {
    const text = 'retry(5);\n'.repeat(80);
    const lines = logOf(...Array.from({ length: 5 }, (_, at) => edit(`src/part${at}.ts`, `part${at}();\n${text}`)));
    expect(lines.map((line) => line.length > 500)).toEqual([false, false, true, true, true]);
  });

  it('counts a call that was made several times in a row', () => {
    const look = done({ kind: 'read', path: '/home/ann/shop/a.ts' });
    expect(logOf(look, look, look)).toEqual(['Tool: tool {"file_path": "/home/ann/shop/a.ts"} (3 times)']);
  });

  it('gives the outcome of a command only at its last run', () => {
    const outcomes = logOf(
      fail('npm test', 'TypeError: no retry'),
      edit('src/upload.ts', 'x();'),
      run('npm test', '5 passed'),
    );
    expect(outcomes.filter((line) => line.startsWith('  '))).toEqual(['  run again later', '  Result: 5 passed']);
  });

  it('says of a failure whether it was mended since', () => {
    const red = fail('npm test -- upload.test.ts', 'TypeError: no retry here');
    expect(logOf(red)).toContain('  FAILED: TypeError: no retry here');
    expect(logOf(red, run('npm test', '5 passed'))).toContain('  failed, ran again since');
  });

  it('says where a call has no result, and leaves out one that was refused', () => {
    const command = { kind: 'command', command: 'git push', background: false } as const;
    expect(logOf(first, open(command))).toContain('  begun, no result seen');
    expect(logOf(first, refused(command)).join('\n')).not.toContain('git push');
  });

  it('has no code of the agent’s words', () => {
    const lines = logOf(
      run('ls'),
      first,
      agent('This is it:\n```\nconst secret = 1;\n```\nIt works now.'),
      run('npm test'),
    );
    expect(lines.join('\n')).not.toContain('const secret');
    expect(lines.join('\n')).toContain('It works now.');
  });

  it('begins with the oldest of the last forty calls', () => {
    const many = Array.from({ length: 90 }, (_, at) => run(`make part${at}`));
    const lines = logOf(first, ...many).filter((line) => line.startsWith('Tool:'));
    expect(lines).toHaveLength(40);
    expect(lines[0]).toContain('make part50');
    expect(lines.at(-1)).toContain('make part89');
  });
});
