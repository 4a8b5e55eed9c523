const FAILURE_LINE =
  /^(?![ \t]{0,40}-[ \t]{1,40}\d+ \[).*(?:\berror\b|[a-z](?:Error|Exception)\b|\bfail(?:ed|ure|ing)?\b|exception|panic:|panicked at|cannot |unable to|not found|no such file|fatal:|denied|refused|undefined:|exit code [1-9]).*$|^\s*(?:not ok |\[-\] |[✗✘] ).*$/gim;
/** A message of a compiler, linter or test about a place in a file. One that begins with a sign, as `: # pkg`, leads to the next. */
const LOCATED = /^\s*[^\s:]{1,200}\.\w{1,8}:\d+(?::\d+)?: (?![:#]).*$/gm;
/** Such a message that is only a remark. */
const REMARK = /:\d+: (?:warning|note|info|hint|help)\b/i;

/** What a compiler says by its messages: one that has nothing to say but remarks succeeds, if its errors would be seen. */
export function readCompiler(output: string, isWhole: boolean): 'ok' | 'failed' | null {
  if (output.trim() === '') return isWhole ? 'ok' : null;
  return findLines(output, LOCATED, MAX_LINES).some((line) => !REMARK.test(line)) ? 'failed' : null;
}

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

/** Lines of an output that report a failure, or its last line where none does. */
export function findFailureLines(output: string, limit: number): string[] {
  const lines = findTellingLines(output, limit);
  if (lines.length > 0) return lines;
  const lastLine = output.trimEnd().replace(/^.*\n/s, '');
  const [last] = findLines(lastLine, FULL_LINE, 1);
  if (last !== undefined) return [last];
  // Short ones say little, but more than nothing.
  const short = findLines(output, FAILURE_LINE, MAX_LINES, 0).filter((line) => rankOf(line) < 3);
  return [...new Set(short)].sort((a, b) => rankOf(a) - rankOf(b)).slice(0, limit);
}

/** Names of failed tests first, then specific lines, general ones last; empty where nothing tells of a failure. */
export function findTellingLines(output: string, limit: number): string[] {
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
  return unique.filter((line) => !isPart(line)).slice(0, limit);
}

/** The lines that name failed tests. */
export function findFailedTests(output: string): string[] {
  return findLines(output, FAILURE_LINE, MAX_LINES).filter((line) => NAMED.test(line));
}

/** A package or a file that a runner reports as a whole. */
const FAILED_UNIT = /^\s*FAIL(?:ED)?[\s:]+(\S*[./]\S+)/gm;
const PASSED_UNIT = /^\s*(?:ok|PASS|✓|✔|√)\s+(\S*[./]\S+)/gm;

/** Whether all packages and files that one output reports as failed passed by another one. */
export function passesAll(later: string, failed: string): boolean {
  const units = Array.from(failed.matchAll(FAILED_UNIT), ([, unit]) => unit);
  if (units.length === 0) return false;
  const passed = new Set(Array.from(later.matchAll(PASSED_UNIT), ([, unit]) => unit));
  return units.every((unit) => passed.has(unit));
}

function rankOf(line: string): 0 | 1 | 2 | 3 {
  if (NAMED.test(line)) return 0;
  if (GENERAL.test(line)) return 3;
  if (SPECIFIC.test(line)) return 1;
  // A line that ends in a colon is a heading.
  return line.endsWith(':') ? 3 : 2;
}

const TALLY =
  /^(?!\s*Duration\b).*(?:^\s*\d+ pass\s*$|\b\d+%? (?:tests? )?(?:passed|passing|examples?|specs?|assertions|succeeded)\b|\bTests?:? +\d|\bTests (?:Passed|run): *\d|\bRan \d+ tests?\b|\b\d+ tests?, 0 failures|test result: ok|BUILD SUCCESS|\ball (?:checks|tests) pass|\b0 (?:errors?|problems|issues)\b|no issues found|^Passed! |^Success! |^Apply complete! |^Plan: \d).*$/gim;

/** The line in which a successful check sums up its result. */
export function findTally(output: string): string | null {
  const lines = findLines(output, TALLY, Number.POSITIVE_INFINITY);
  // Several parts sum up, and the last one may have had nothing to do.
  const telling = lines.findLast((line) => /\b[1-9]\d*%? (?:\w+ )?(?:pass|succeed)/i.test(line));
  return telling ?? lines.findLast((line) => /\d/.test(line)) ?? lines.at(-1) ?? null;
}

const SHORTEST = 12;
const LONGEST = 1000;
/** Rules drawn around a line. */
const RULES = /^[=_\-\u23af\s]{3,}|[=_\-\u23af\s]{3,}$/g;

function findLines(output: string, pattern: RegExp, limit: number, shortest = SHORTEST): string[] {
  const found: string[] = [];
  for (const [line] of output.matchAll(pattern)) {
    const text = line
      .slice(0, LONGEST)
      .replace(/[\s\u2500-\u257f]+/g, ' ')
      .replace(RULES, '')
      .replace(/^ ?E (?=\S)/, '')
      .trim();
    if (text.length > shortest) found.push(text);
    if (found.length === limit) break;
  }
  return found;
}

const CHECKS =
  /\b(?:test|tests|pytest|unittest|jest|vitest|mocha|rspec|ctest|nextest|phpunit|playwright|tox|nox|lint|eslint|pylint|flake8|pyright|ruff|mypy|black|gofmt|tsc|biome|check|clippy|vet|fmt|format|prettier|build|compile|py_compile|compileall|typecheck|verify|validate|Invoke-Pester)\b/;

/** Whether a command checks the work: tests, builds, linters, type checks. */
export function isCheck(use: string): boolean {
  return CHECKS.test(use) || use === 'make';
}

export type CheckKind = 'test' | 'lint' | 'build';

const LINTS =
  /\b(?:lint|eslint|ruff|mypy|biome|check|clippy|vet|fmt|format|prettier|black|gofmt|flake8|pyright|typecheck|shellcheck|validate)\b|lint/;
const TESTS =
  /\b(?:test|tests|pytest|unittest|tox|nox|jest|vitest|mocha|rspec|ctest|nextest|phpunit|playwright|verify|Invoke-Pester|e2e|ci)\b/;

/** Flags with which a tool only tells something about itself. */
const TELLING =
  /^(?:--help|-h|--version|-V|--collect-only|--co|--list|--listTests|--list-tests|--dry-run|--showConfig)$/;

/** What rewrites files is no check of them, unless it only compares. */
const FORMATS = /\b(?:fmt|format|black|gofmt|prettier)\b(?!.*\b(?:check|lint)\b)/;
const COMPARING = /^(?:--?check|-c|-l|-d|--diff|--list-different|--verify-no-changes|--test|--dry-run)$/;

/** Null for a command that checks nothing. */
export function findCheckKind(use: string, words: readonly string[] = []): CheckKind | null {
  if (words.some((word) => TELLING.test(word))) return null;
  if (FORMATS.test(use) && !words.some((word) => COMPARING.test(word))) return null;
  if (words[0] === 'node' && words.includes('--test')) return 'test';
  // What git checks or verifies is its own.
  if (!isCheck(use) || use.startsWith('git ')) return null;
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

/** A line that shows a failure, in the fixed words of tools. */
const RED = new RegExp(
  [
    '^(?:FAIL(?:ED)?\\b|--- FAIL|panic:|Traceback|npm (?:ERR|error)|fatal:|error:|error\\[|make: \\*\\*\\*|not ok )',
    '\\bBUILD FAIL|^(?:Build FAILED|\\[ERROR\\] |(?:#|\\u2139) fail [1-9]|Found [1-9]\\d* errors?\\b|\\s*Errors +[1-9])',
    '^(?:\\u2502 )?Error: |\\berror [A-Z]{2}\\d{3,5}: |^\\S{1,200}\\.\\w{1,8}:\\d+(?::\\d+)?: (?:(?:fatal )?error|undefined): ',
    '\\b[1-9]\\d* (?:tests? |examples?,? |snapshots? )?(?:failed|failing|failures?)\\b|\\b(?:Failed|Failures|Errors): +[1-9]',
    '^(?:\\[[\\w:.-]+\\] )?ERROR task failed|^[1-9]\\d* issues?:|\\([1-9]\\d* errors?, |\\b[1-9]\\d* errors? in [\\d.]+s',
    // How a script reports the status of a command whose own status is lost.
    '\\b(?:EXIT(?:[ _]?(?:CODE|STATUS))?|rc)\\s*[:=]\\s*[1-9]\\d*\\b|"success": ?false|\\bexit(?:ed with)? (?:code|status):? [1-9]',
  ].join('|'),
  'i',
);
/** Some tools count failures on a line of their own, before those that passed. */
const RED_COUNT = /^[ \t]*[1-9]\d* fail(?:ed|ing)?[ \t]*$/m;
/** A line that shows success, and whether it counts failures, too: then a part of an output is enough. */
const GREEN = /^ok\s+\S+\s+[\d.(]|^OK\b|^\s*Finished\b.*\btarget\(s\)|\bbuilt in [\d.]+m?s|^(?:#|\u2139) fail 0\b/;
const GREEN_ALONE =
  /^\s*Tests:? +\d|^\s*0 (?:fail|issues\.)\s*$|^\[SUCCESS\] |^Checked \d+ files? in .*No fixes applied|\bpassed\b.* in [\d.]+s|\b(?:EXIT(?:[ _]?(?:CODE|STATUS))?|rc)\s*[:=]\s*0\b/i;
const MAX_END = 4000;

/** What the last summary in the output of a check says; null where there is none. */
export function readVerdict(output: string, isFiltered = false): 'ok' | 'failed' | null {
  // Agents put the status of the line before its output.
  const end = output.replace(/^Exit code \d+(?=\n|$)/, '').slice(-MAX_END);
  if (RED_COUNT.test(end)) return 'failed';
  for (const line of end.split('\n').reverse()) {
    if (RED.test(line)) return 'failed';
    if (GREEN_ALONE.test(line)) return 'ok';
    if (!isFiltered && !/^Ran \d/.test(line) && (GREEN.test(line) || line.search(TALLY) !== -1)) return 'ok';
  }
  return null;
}

export function didFail({ failed, output }: { failed: boolean | null; output: string }): boolean {
  return failed === true || readVerdict(output) === 'failed';
}

/** The command itself did not run, so its output says nothing about what it checks. */
export function didNotRun(output: string): boolean {
  return /command not found|is not recognized as|timed out after|ENOENT.*spawn|Sibling tool call errored|\bcd:.{0,80}no such file or directory|\[setup failed\]/i.test(
    output.slice(0, 600),
  );
}
