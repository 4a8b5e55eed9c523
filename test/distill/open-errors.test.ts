import { describe, expect, it } from 'vitest';
import { agent, distillSession, edit, fail, ofKind, run, type Step, user } from '../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');

function errorsOf(...steps: Step[]): [string, string | undefined][] {
  return ofKind(distillSession(first, ...steps), 'error').map(({ text, status }) => [text, status]);
}

function statusOf(...steps: Step[]): string | undefined {
  return errorsOf(...steps)[0]?.[1];
}

const red = fail('npm test', 'FAIL src/upload/client.ts > sends it again\nTypeError: retry is not a function');

describe('an error of a check', () => {
  it('is open until the check runs again and passes', () => {
    expect(statusOf(red)).toBe('open');
    expect(statusOf(red, run('npm install'))).toBe('open');
    expect(statusOf(red, run('npm test', '5 passed'))).toBe('closed');
  });

  it('is closed by the same check with other flags of output', () => {
    expect(statusOf(fail('go test ./... -v', '--- FAIL: TestUpload'), run('go test ./...', 'ok'))).toBe('closed');
  });

  it('is closed by a wider check of its kind', () => {
    expect(statusOf(fail('vitest run src/a.test.ts', 'AssertionError: 3 is not 4'), run('npm test', '5 passed'))).toBe(
      'closed',
    );
  });

  it('of a build is closed by tests, which need the build', () => {
    expect(
      statusOf(fail('cargo build', 'error[E0308]: mismatched types'), run('cargo test', '2 passed; 0 failed')),
    ).toBe('closed');
  });

  it('is not closed by a check of another kind, or of another part', () => {
    expect(statusOf(red, run('npm run lint'))).toBe('open');
    expect(
      statusOf(fail('pytest', 'FAILED tests/test_a.py::test_total'), run('pytest tests/test_b.py', '1 passed')),
    ).toBe('open');
  });

  it('is replaced by the next failure of the same check', () => {
    expect(errorsOf(red, fail('npm test', 'RangeError: the delay is too long'))).toEqual([
      ['RangeError: the delay is too long', 'open'],
      ['FAIL src/upload/client.ts > sends it again', 'closed'],
    ]);
  });

  it('is no longer claimed after an edit of a file that it names, or of one beside it', () => {
    expect(statusOf(red, edit('src/upload/client.ts', 'retry();'))).toBe('unknown');
    expect(statusOf(red, edit('src/upload/retry.ts', 'retry();'))).toBe('unknown');
  });

  it('stays open after an edit elsewhere, and says that files were edited', () => {
    const [error] = ofKind(distillSession(first, red, edit('docs/api/retry.ts', 'x();')), 'error');
    expect([error?.status, error?.detail?.edited]).toEqual(['open', true]);
  });

  it('is no longer claimed after very many calls', () => {
    const later = Array.from({ length: 70 }, () => run('ls'));
    expect(statusOf(red, ...later)).toBe('unknown');
  });

  it('has the command as it was run, and what the agent said of it', () => {
    const words = 'The function is exported under another name, so the client of the upload never finds it.';
    const [error] = ofKind(distillSession(first, red, agent(words)), 'error');
    expect([error?.detail?.run, error?.detail?.said]).toEqual(['npm test', words]);
  });

  it('is shown with several lines while it is open', () => {
    const output = 'FAILED tests/test_a.py::test_one - assert 1\nFAILED tests/test_a.py::test_two - assert 2';
    const errors = ofKind(distillSession(first, fail('pytest', output)), 'error');
    expect(errors.map(({ text, detail }) => [text, detail?.order])).toEqual([
      ['FAILED tests/test_a.py::test_one - assert 1', 0],
      ['FAILED tests/test_a.py::test_two - assert 2', 1],
    ]);
  });
});

describe('an error of a command that checks nothing', () => {
  it('is never open, and over once the command succeeded', () => {
    const refused = fail('docker compose up -d', 'Error: the port 8080 is taken');
    expect(statusOf(refused)).toBe('unknown');
    expect(statusOf(refused, run('docker compose up -d'))).toBe('closed');
  });
});
