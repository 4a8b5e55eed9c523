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

describe('an error of a command', () => {
  it('is none where only a filter of its output found nothing', () => {
    const listing = 'gh secret list 2>&1 | grep -i key; gh variable list 2>&1 | grep -i key';
    expect(errorsOf(fail(listing, 'PUBLIC_KEY_OF_THE_SHOP\t2026-02-09T03:00:31Z'))).toEqual([]);
    expect(errorsOf(fail(listing, 'failed to get variables: HTTP 404: Not Found'))).toEqual([
      ['failed to get variables: HTTP 404: Not Found', 'unknown'],
    ]);
  });

  it('is the message, not what leads to it', () => {
    const output =
      'shop/cart.go:1: : # shop.io/cart [shop.io/cart.test]\nshop/cart_test.go:7:5: not enough values in call';
    expect(errorsOf(fail('golangci-lint run ./...', output), run('golangci-lint run ./...'))).toEqual([
      ['shop/cart_test.go:7:5: not enough values in call', 'closed'],
    ]);
  });
});

describe('an error of a check', () => {
  it('is open until the check runs again and passes', () => {
    expect(statusOf(red)).toBe('open');
    expect(statusOf(red, run('npm install'))).toBe('open');
    expect(statusOf(red, run('npm test', '5 passed'))).toBe('closed');
  });

  it.each([
    ['go test ./shop/... -v', 'FAIL\tacme.io/shop/cart\t8.2s', 'ok  \tacme.io/shop/cart\t13.4s', 'closed'],
    ['go test ./shop/... -v', 'FAIL\tacme.io/shop/cart\t8.2s', 'ok  \tacme.io/shop/pay\t13.4s', 'open'],
    ['npx jest cart', 'FAIL src/cart.test.ts', 'PASS src/cart.test.ts', 'closed'],
    ['npx vitest run cart', ' FAIL  src/cart.test.ts > adds up', ' ✓ src/cart.test.ts (4 tests) 12ms', 'closed'],
  ])('of `%s` that says %j is, after a run of all that says %j, %s', (command, said, later, status) => {
    const all = run('mise run fmt && mise run test:ci 2>&1 | tail -20', `${later}\nFinished in 2.8s`);
    expect(statusOf(fail(command, said), all)).toBe(status);
  });

  it('is not closed by a part of its package', () => {
    const red = fail('go test ./shop/...', '--- FAIL: TestCart (0.1s)\nFAIL\tacme.io/shop/cart\t8.2s');
    expect(statusOf(red, run('go test ./shop/... -run TestPay', 'ok  \tacme.io/shop/cart\t1.4s'))).toBe('open');
  });

  it('is closed by the same check with other flags of output', () => {
    expect(statusOf(fail('go test ./... -v', '--- FAIL: TestUpload'), run('go test ./...', 'ok'))).toBe('closed');
  });

  it.each([
    ['go test ./a/...', 'go test ./...'],
    ['pytest tests/test_a.py', 'pytest'],
    ['pytest tests/test_a.py', 'pytest tests'],
    ['pytest tests/test_a.py::test_total', 'pytest tests/test_a.py'],
    ['npm test -- a', 'npm test'],
    ['npm run test', 'npm test'],
    ['vitest run src/a.test.ts', 'npx vitest run --reporter=dot'],
    ['python -m pytest tests/test_a.py', 'cd /home/ann/shop && PYTHONPATH=. uv run pytest tests/test_a.py -x -q'],
    ['pnpm exec jest a', 'npx jest a --silent'],
    ['mvn -pl a test', 'mvn test'],
  ])('of `%s` is closed by `%s`, which runs at least as much', (failed, passed) => {
    expect(statusOf(fail(failed, 'it went wrong, badly'), run(passed))).toBe('closed');
  });

  it.each([
    ['npm test', 'npm run lint'],
    ['npm run build', 'npm test'],
    ['cargo build', 'cargo test'],
    ['npm run typecheck', 'npm run lint'],
    ['npm run test:e2e', 'npm run test:unit'],
    ['make integration-test', 'make test'],
    ['make test', 'make'],
    ['pytest', 'pytest tests/test_b.py'],
    ['pytest tests/test_a.py', 'pytest tests/test_b.py'],
    ['pytest', 'pytest --lf'],
    ['pytest --runslow', 'pytest'],
    ["pytest -m 'not slow'", 'pytest -m slow'],
    ['go test ./a/...', 'go test ./b/...'],
    ['go test ./a/b', 'go test ./a'],
    ['mvn -pl a test', 'mvn -pl b test'],
    ['npm test -w a', 'npm test -w b'],
    ['cd api && npm test', 'cd web && npm test'],
    ['NODE_ENV=production npm test', 'npm test'],
    ['tsc -p tsconfig.build.json', 'tsc'],
    ['vitest run src/a.test.ts', 'npm test'],
  ])('of `%s` is not closed by `%s`', (failed, passed) => {
    expect(statusOf(fail(failed, 'it went wrong, badly'), run(passed))).toBe('open');
  });

  it('is not claimed once the same check ran and nothing shows its result', () => {
    expect(statusOf(red, run('npm test || true'))).toBe('closed');
  });

  it('is open beside those of other checks', () => {
    const [a, b] = ['FAILED tests/test_a.py::test_one', 'FAILED tests/test_b.py::test_two'];
    expect(errorsOf(fail('pytest tests/test_a.py', a), fail('pytest tests/test_b.py', b))).toEqual([
      [b, 'open'],
      [a, 'open'],
    ]);
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

  it('is no longer claimed once the test that failed has passed alone', () => {
    const all = fail('go test ./...', '--- FAIL: TestUploadRetries (0.01s)\nFAIL');
    expect(statusOf(all)).toBe('open');
    expect(statusOf(all, run('go test ./upload -run TestUploadRetries', 'ok'))).toBe('closed');
    expect(statusOf(all, run('go test ./upload -run TestUploadStops', 'ok'))).toBe('open');
    const two = fail('pytest', 'FAILED tests/test_a.py::test_one\nFAILED tests/test_b.py::test_two');
    expect(statusOf(two, run('pytest tests/test_a.py::test_one'))).toBe('open');
    expect(statusOf(fail('pytest', 'FAILED tests/test_a.py::test_one'), run('pytest t.py::test_one'))).toBe('closed');
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
    expect(errors.map(({ text }) => text)).toEqual([
      'FAILED tests/test_a.py::test_one - assert 1',
      'FAILED tests/test_a.py::test_two - assert 2',
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
