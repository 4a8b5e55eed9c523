const FAILURE_LINE =
  /^.*(?:\berror\b|[a-z](?:Error|Exception)\b|\bfail(?:ed|ure|ing)?\b|exception|panic:|panicked at|cannot |unable to|not found|no such file|fatal:|denied|refused|undefined:|exit code [1-9]).*$|^\s*(?:not ok |\[-\] ).*$/gim;
/** A message of a compiler, linter or test about a place in a file. */
const LOCATED = /^\s*[^\s:]{1,200}\.\w{1,8}:\d+(?::\d+)?: .*$/gm;
/** Names what went wrong. */
const SPECIFIC = /\b[A-Z]\w*(?:Error|Exception)\b|\berror(?:\[\w+\])?:|\bTS\d{4}\b|panic:|panicked at|undefined:/;
/** Names the test that failed. */
const NAMED = /^(?:FAIL: \S|FAIL \S+\.\w+(?: >|$)|FAILED \S+::|not ok \d+ - |[✗✘×] |\d+\) |\[\w+\] › )/;
/** A line of a log, which reports no failure whatever it names. */
const LOGGED = /\b(?:INFO|DEBUG|TRACE)\b/;
/** Says only that something went wrong. */
const GENERAL =
  /^(?:error: (?:test failed|could not compile|aborting)|npm (?:ERR|error)|\[ERROR\] Failed to execute|Found \d+ errors?\b|(?:\[[\w:.-]+\] )?ERROR task failed|FAIL$|FAIL\s+\S+\s+(?:\[|[\d.(])|exit status|Exit code|make: \*\*\*|Error: Process|error: Recipe|Tests?:? |Test (?:Files|Suites)|=+ |\d+ (?:passed|failed))/;

/** A line of source code, as stack traces show it. */
const QUOTED_CODE =
  /^(?:>? ?(?:raise|throw|except|catch|rescue|import|from|return|def|class|if|elif|try|with|const|let|var|for|while)\b|[}@#])/;

const FULL_LINE = /^.+$/gm;
const MAX_LINES = 40;

/** Lines of an output that report a failure: names of failed tests first, then specific ones, general ones last. */
export function findFailureLines(output: string, limit: number): string[] {
  const ranks: [string[], string[], string[], string[]] = [[], [], [], []];
  for (const line of findLines(output, FAILURE_LINE, MAX_LINES))
    if (!QUOTED_CODE.test(line) && !LOGGED.test(line)) ranks[rankOf(line)].push(line);
  const [named, specific, others] = ranks;
  if (named.length + specific.length + others.length < limit)
    others.unshift(
      ...findLines(output, LOCATED, MAX_LINES)
        .filter((line) => !specific.includes(line) && !LOGGED.test(line))
        .slice(0, limit),
    );
  const unique = [...new Set(ranks.flat())];
  const isPart = (line: string) => unique.some((other) => other.length > line.length && other.includes(line));
  const lines = unique.filter((line) => !isPart(line));
  if (lines.length > 0) return lines.slice(0, limit);
  const lastLine = output.trimEnd().replace(/^.*\n/s, '');
  return findLines(lastLine, FULL_LINE, 1).slice(0, limit);
}

function rankOf(line: string): 0 | 1 | 2 | 3 {
  if (NAMED.test(line)) return 0;
  if (GENERAL.test(line)) return 3;
  if (SPECIFIC.test(line)) return 1;
  // A line that ends in a colon is a heading.
  return line.endsWith(':') ? 3 : 2;
}

const TALLY =
  /^(?!\s*Duration\b).*(?:\b\d+%? (?:tests? )?(?:passed|passing|examples?|specs?|assertions|succeeded)\b|\bTests?:? +\d|\bTests (?:Passed|run): *\d|\bRan \d+ tests?\b|\b\d+ tests?, 0 failures|test result: ok|BUILD SUCCESS|\ball (?:checks|tests) pass|\b0 (?:errors?|problems|issues)\b|no issues found|^Passed! |^Success! |^Apply complete! |^Plan: \d).*$/gim;

/** The line in which a successful check sums up its result. */
export function findTally(output: string): string | null {
  const lines = findLines(output, TALLY, Number.POSITIVE_INFINITY);
  return lines.findLast((line) => /\d/.test(line)) ?? lines.at(-1) ?? null;
}

const SHORTEST = 12;
const LONGEST = 1000;
/** Rules drawn around a line. */
const RULES = /^[=_\-\u23af\s]{3,}|[=_\-\u23af\s]{3,}$/g;

function findLines(output: string, pattern: RegExp, limit: number): string[] {
  const found: string[] = [];
  for (const [line] of output.matchAll(pattern)) {
    const text = line
      .slice(0, LONGEST)
      .replace(/[\s\u2500-\u257f]+/g, ' ')
      .replace(RULES, '')
      .replace(/^ ?E (?=\S)/, '')
      .trim();
    if (text.length > SHORTEST) found.push(text);
    if (found.length === limit) break;
  }
  return found;
}

const CHECKS =
  /\b(?:test|tests|pytest|jest|vitest|mocha|rspec|ctest|nextest|phpunit|playwright|lint|eslint|ruff|mypy|tsc|biome|check|clippy|vet|fmt|format|prettier|build|compile|typecheck|verify|validate|Invoke-Pester)\b/;

/** Whether a command checks the work: tests, builds, linters, type checks. */
export function isCheck(use: string): boolean {
  return CHECKS.test(use) || use === 'make';
}

export type CheckKind = 'test' | 'lint' | 'build';

const LINTS =
  /\b(?:lint|eslint|ruff|mypy|biome|check|clippy|vet|fmt|format|prettier|typecheck|shellcheck|validate)\b|lint/;
const TESTS =
  /\b(?:test|tests|pytest|jest|vitest|mocha|rspec|ctest|nextest|phpunit|playwright|verify|Invoke-Pester|e2e|ci)\b/;

/** Null for a command that checks nothing. */
export function findCheckKind(use: string): CheckKind | null {
  if (!isCheck(use)) return null;
  if (TESTS.test(use)) return 'test';
  return LINTS.test(use) ? 'lint' : 'build';
}

/** What an output shows to have failed; null where it does not tell. */
export function findFailedKind(output: string): CheckKind | null {
  if (/^\s*--- FAIL|^FAIL\b|\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?)\b|^panic:|^not ok /m.test(output))
    return 'test';
  if (/\b[1-9]\d* (?:problems?|issues?|warnings?)\b|^\S+:\d+:\d+: .*\([\w-]+\)$|would reformat/m.test(output))
    return 'lint';
  return /\berror TS\d+|^error(?:\[\w+\])?: |\bundefined: |cannot find symbol/m.test(output) ? 'build' : null;
}

const FAILED_OUTPUT = new RegExp(
  [
    '^(?:FAIL\\b|--- FAIL|panic:|Traceback|npm (?:ERR|error)|fatal:|error:|error\\[|make: \\*\\*\\*|not ok )',
    '^(?:BUILD FAIL|Build FAILED|\\[ERROR\\] |# fail [1-9]|Found [1-9]\\d* errors?\\b)',
    '^(?:\\u2502 )?Error: |\\berror [A-Z]{2}\\d{3,5}: |^\\S{1,200}\\.\\w{1,8}:\\d+(?::\\d+)?: (?:(?:fatal )?error|undefined): ',
    '\\b[1-9]\\d* (?:tests? |examples?,? )?(?:failed|failing|failures?)\\b|\\bFailed: +[1-9]|\\([1-9]\\d* errors?, ',
  ].join('|'),
  'm',
);

/** How a script reports the status of a command whose own status is lost. */
const REPORTED =
  /\bEXIT(?:[ _]?(?:CODE|STATUS))?\s*[:=]\s*[1-9]\d*\b|"success": ?false|\bexit(?:ed with)? (?:code|status):? [1-9]/i;

/**
 * A pipe, `||` or `; echo` hides the exit status, so the output of a check that shows a failure outweighs a status of
 * success. Other commands may print anything.
 */
export function didFail({ failed, output }: { failed: boolean | null; output: string }, isCheck = true): boolean {
  if (failed === true) return true;
  const end = output.slice(-4000);
  return isCheck && (FAILED_OUTPUT.test(end) || REPORTED.test(end));
}

/** The command itself did not run, so its output says nothing about what it checks. */
export function didNotRun(output: string): boolean {
  return /command not found|is not recognized as|timed out after|ENOENT.*spawn|Sibling tool call errored/.test(
    output.slice(0, 400),
  );
}
