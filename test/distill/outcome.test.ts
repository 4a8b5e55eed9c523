import { describe, expect, it } from 'vitest';
import { findFailureLines, findTally, isCheck } from '../../src/distill/outcome.ts';
import { distillSession, ofKind, run } from '../support/scripted-session.ts';

/** What each tool prints when something fails, and the line that a reader needs. */
const RED: readonly [string, string, string][] = [
  [
    'pytest',
    `tests/test_cart.py .F.                         [100%]
=================================== FAILURES ===================================
E       assert 3 == 4
tests/test_cart.py:5: AssertionError
FAILED tests/test_cart.py::test_total - assert 3 == 4
========================= 1 failed, 2 passed in 0.03s ==========================`,
    'FAILED tests/test_cart.py::test_total - assert 3 == 4',
  ],
  [
    'cargo build',
    `   Compiling shop v0.1.0
error[E0308]: mismatched types
 --> src/lib.rs:4:5
error: could not compile \`shop\` (lib) due to 1 previous error`,
    'error[E0308]: mismatched types',
  ],
  [
    'cargo test',
    `test cart::totals ... FAILED
thread 'cart::totals' panicked at src/cart.rs:12:9:
assertion \`left == right\` failed
test result: FAILED. 1 passed; 1 failed; 0 ignored
error: test failed, to rerun pass \`--lib\``,
    "thread 'cart::totals' panicked at src/cart.rs:12:9:",
  ],
  [
    'go test',
    `--- FAIL: TestTotal (0.00s)
    cart_test.go:9: total = 3, want 4
FAIL
FAIL	example.com/shop/cart	0.002s`,
    'FAIL: TestTotal (0.00s)',
  ],
  ['go build', '# example.com/shop\n./main.go:7:2: undefined: cart\n', './main.go:7:2: undefined: cart'],
  [
    'jest',
    ` FAIL  src/cart.test.ts
  ● cart › totals
    TypeError: total is not a function
Tests:       1 failed, 4 passed, 5 total`,
    'FAIL src/cart.test.ts',
  ],
  [
    'vitest',
    `⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯
 FAIL  src/cart.test.ts > totals
AssertionError: expected 3 to be 4 // Object.is equality
      Tests  1 failed | 1 passed (2)
   Duration  300ms (transform 20ms, setup 0ms, collect 18ms, tests 5ms)`,
    'FAIL src/cart.test.ts > totals',
  ],
  [
    'rspec',
    `Failures:

  1) Cart totals
     Failure/Error: expect(cart.total).to eq(4)

2 examples, 1 failure

Failed examples:`,
    'Failure/Error: expect(cart.total).to eq(4)',
  ],
  [
    'gradle',
    `> Task :test FAILED
CartTest > totals() FAILED
    org.opentest4j.AssertionFailedError at CartTest.java:9
2 tests completed, 1 failed
FAILURE: Build failed with an exception.
BUILD FAILED in 3s`,
    'org.opentest4j.AssertionFailedError at CartTest.java:9',
  ],
  [
    'mvn',
    `[ERROR] Failures: 
[ERROR]   CartTest.totals:9 expected: <4> but was: <3>
[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0
[INFO] BUILD FAILURE`,
    '[ERROR] CartTest.totals:9 expected: <4> but was: <3>',
  ],
  [
    'tsc',
    "src/cart.ts(4,5): error TS2322: Type 'string' is not assignable to type 'number'.\nFound 1 error in 1 file.",
    "src/cart.ts(4,5): error TS2322: Type 'string' is not assignable to type 'number'.",
  ],
  [
    'eslint',
    `/home/ann/shop/src/cart.ts
  4:5  error  'x' is assigned a value but never used  no-unused-vars

✖ 1 problem (1 error, 0 warnings)`,
    "4:5 error 'x' is assigned a value but never used no-unused-vars",
  ],
  [
    'terraform',
    `╷
│ Error: Unsupported argument
│ 
│   on main.tf line 4, in resource "aws_s3_bucket" "b":
╵`,
    'Error: Unsupported argument',
  ],
  [
    'ctest',
    `1/2 Test #1: cart ..............***Failed    0.01 sec
50% tests passed, 1 tests failed out of 2
The following tests FAILED:
	  1 - cart (Failed)`,
    '1/2 Test #1: cart ..............***Failed 0.01 sec',
  ],
  [
    'ruff',
    'src/a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.',
    'src/a.py:1:8: F401 [*] `os` imported but unused',
  ],
  [
    'make',
    "src/a.c:4:5: error: 'x' undeclared\nmake: *** [Makefile:4: a.o] Error 1",
    "src/a.c:4:5: error: 'x' undeclared",
  ],
  ['dotnet', 'Cart.cs(4,5): error CS0103: no such name\nBuild FAILED.', 'Cart.cs(4,5): error CS0103: no such name'],
  ['pester', '[-] cart totals 5ms (4ms|1ms)\nTests Passed: 1, Failed: 1, Skipped: 0', '[-] cart totals 5ms (4ms|1ms)'],
];

const GREEN: readonly [string, string, string | null][] = [
  ['pytest', '====== 3 passed in 0.02s ======', '3 passed in 0.02s'],
  ['cargo', 'test result: ok. 12 passed; 0 failed; 0 ignored', 'test result: ok. 12 passed; 0 failed; 0 ignored'],
  ['jest', 'Test Suites: 2 passed, 2 total\nTests:       5 passed, 5 total\nTime: 1 s', 'Tests: 5 passed, 5 total'],
  [
    'vitest',
    ' Test Files  1 passed (1)\n      Tests  2 passed (2)\n   Duration  300ms (collect 18ms, tests 5ms)',
    'Tests 2 passed (2)',
  ],
  ['rspec', 'Finished in 0.01 seconds\n2 examples, 0 failures', '2 examples, 0 failures'],
  ['gradle', 'BUILD SUCCESSFUL in 3s\n4 actionable tasks: 4 executed', 'BUILD SUCCESSFUL in 3s'],
  [
    'mvn',
    '[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS',
    '[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0',
  ],
  ['eslint', '✖ 3 problems (0 errors, 3 warnings)', '✖ 3 problems (0 errors, 3 warnings)'],
  ['terraform', 'Plan: 2 to add, 0 to change, 1 to destroy.', 'Plan: 2 to add, 0 to change, 1 to destroy.'],
  ['ctest', '100% tests passed, 0 tests failed out of 2', '100% tests passed, 0 tests failed out of 2'],
  ['unittest', 'Ran 2 tests in 0.001s\n\nOK', 'Ran 2 tests in 0.001s'],
  ['pester', 'Tests Passed: 2, Failed: 0, Skipped: 0', 'Tests Passed: 2, Failed: 0, Skipped: 0'],
  ['go test', 'ok  \tshop/cart\t0.1s', null],
];

const statusOf = (output: string): string | undefined =>
  ofKind(distillSession(run('npm test 2>&1 | tail -40', output)), 'check')[0]?.status;

describe('the output of a failed command', () => {
  it.each(RED)('of %s is represented by the line that names the failure', (_, output, line) => {
    expect(findFailureLines(output, 1)).toEqual([line]);
  });

  it.each(RED)('of %s counts as a failure though the exit status is 0', (_, output) => {
    expect(statusOf(output)).toBe('failed');
  });

  it('names the test before the reason where there is room for both', () => {
    const output =
      ' FAIL  src/cart.test.ts > totals\nAssertionError: expected 3 to be 4\n Tests  1 failed | 1 passed (2)';
    expect(findFailureLines(output, 2)).toEqual([
      'FAIL src/cart.test.ts > totals',
      'AssertionError: expected 3 to be 4',
    ]);
  });

  it('is the test that failed, not one that was skipped whatever its name says', () => {
    const output = [
      '  ✓   9 [chromium] › tests/sharing.spec.ts:210:3 › Sharing › 5.2 Bob opens the folder (1.2s)',
      '  ✘  10 [chromium] › tests/sharing.spec.ts:240:3 › Sharing › 6.1 Sender views recipients (30.0s)',
      '  -  15 [chromium] › tests/sharing.spec.ts:468:3 › Sharing › 8.1 Invalid public key format shows error',
    ].join('\n');
    expect(findFailureLines(output, 3)).toEqual([
      expect.stringMatching(/^✘ 10 \[chromium\] › tests\/sharing\.spec\.ts:240:3 › Sharing › 6\.1/),
    ]);
  });

  it('without a known message is represented by its last line', () => {
    expect(findFailureLines('step one went well\nstep two has gone away\n', 3)).toEqual(['step two has gone away']);
  });
});

describe('the output of a successful command', () => {
  it.each(GREEN)('of %s is represented by its totals', (_, output, tally) => {
    expect(findTally(output)).toBe(tally);
  });

  it.each(GREEN)('of %s counts as a success', (_, output) => {
    expect(statusOf(output)).toBe('ok');
  });

  it.each(['done', '', 'Fehler: 1, erfolgreich: 12', 'Ran 2 tests in 0.001s'])(
    'does not count as one without a summary that says so: %j',
    (output) => {
      expect(statusOf(output)).toBe('unknown');
    },
  );

  it('is told by its last summary', () => {
    expect(statusOf('Tests: 1 failed, 2 passed\nTests: 3 passed, 3 total')).toBe('ok');
    expect(statusOf('Tests: 3 passed, 3 total\nnpm ERR! code 1')).toBe('failed');
    expect(statusOf('  1 failed\n    a.spec.ts\n  12 passed (3s)')).toBe('failed');
  });

  it('is not told by lines that were picked from it', () => {
    const picked = (output: string): string | undefined =>
      ofKind(distillSession(run('mocha | grep ing', output)), 'check')[0]?.status;
    expect(picked('  5 passing (3ms)')).toBe('unknown');
    expect(picked('Tests: 5 passed, 5 total')).toBe('ok');
  });

  it('never outweighs an exit status of its own', () => {
    for (const output of ["prints 'Tests: 3 failed, 4 passed'", 'Traceback (most recent call last):', 'FAIL'])
      expect(ofKind(distillSession(run('npm test', output)), 'check')[0]?.status).toBe('ok');
  });
});

describe('a command that checks the work', () => {
  it.each([
    'npm test',
    'cargo clippy',
    'tsc',
    'gradlew :core:test',
    'terraform validate',
    'make',
    'go vet',
    'Invoke-Pester',
  ])('is %s', (use) => {
    expect(isCheck(use)).toBe(true);
  });

  it.each(['npm install', 'git push', 'docker compose up', 'make install'])('is not %s', (use) => {
    expect(isCheck(use)).toBe(false);
  });
});
