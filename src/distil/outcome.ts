import type { RanCommand } from './account.ts';

const FAILURE_LINE =
  /^.*(?:\berror\b|[a-z](?:Error|Exception)\b|\bfail(?:ed|ure|ing)?\b|exception|panic:|cannot |unable to|not found|no such file|fatal:|denied|refused|undefined:|exit code [1-9]).*$/gim;
/** Names what went wrong, not only that something did. */
const TELLING = /\b[A-Z]\w*(?:Error|Exception)\b|\berror(?:\[\w+\])?:|\bTS\d{4}\b|panic:|undefined:/;

/** Lines of an output that tell of a failure: those that name it first, then the others, in their order. */
export function findFailureLines(output: string, limit: number): string[] {
  const found = findLines(output, FAILURE_LINE, MAX_LINES);
  const lines = found.length > 0 ? found : findLines(output.trimEnd(), LAST_LINE, 1);
  return [
    ...lines.filter((line) => TELLING.test(line)),
    ...lines.filter((line) => !TELLING.test(line)),
  ].slice(0, limit);
}

const LAST_LINE = /.+(?![\s\S])/g;
const MAX_LINES = 40;

const TALLY =
  /^.*(?:\b\d+ (?:tests? )?(?:passed|passing|examples?|specs?|assertions|succeeded)\b|\bTests?:? +\d|test result: ok|BUILD SUCCESS|\ball (?:checks|tests) pass|\b0 (?:errors?|problems|issues)\b|no issues found).*$/gim;

/** The line in which a check that went well says how well. */
export function findTally(output: string): string | null {
  return findLines(output, TALLY, Number.POSITIVE_INFINITY).at(-1) ?? null;
}

const SHORTEST = 12;

function findLines(output: string, pattern: RegExp, limit: number): string[] {
  const found: string[] = [];
  for (const [line] of output.matchAll(pattern)) {
    const text = line.replace(/[\s\u2500-\u257f]+/g, ' ').trim();
    if (text.length > SHORTEST) found.push(text);
    if (found.length === limit) break;
  }
  return found;
}

const CHECKS =
  /\b(?:test|tests|pytest|jest|vitest|mocha|rspec|ctest|nextest|phpunit|playwright|lint|eslint|ruff|mypy|tsc|biome|check|clippy|vet|fmt|format|prettier|build|compile|typecheck|verify|validate)\b/;

/** Programs that run whatever they are told: what one of their tasks says, says nothing of another. */
const RUNNING_OTHERS =
  /^(?:npm|pnpm|yarn|bun|deno|make|just|task|mise|rake|docker|python\d?|bundle|conda|php|node|sh|bash)\b/;
const WHOLE = /\b(?:test|tests|verify|ci|all|spec)\b|^gradlew? check\b|^\.?\/?gradlew check\b/;

/** Whether the success of one check shows that what failed in another is gone: the same check, or a wider one of the same tool. */
export function covers(later: string, failed: string): boolean {
  if (later === failed) return true;
  const [tool = ''] = later.split(' ');
  if (tool !== failed.split(' ')[0] || RUNNING_OTHERS.test(tool)) return false;
  return WHOLE.test(later) || (isCheck(later) && !WHOLE.test(failed) && later.split(' ')[1] === undefined);
}

/** Whether a command checks the work: tests, builds, linters, type checks. */
export function isCheck(use: string): boolean {
  return CHECKS.test(use) || use === 'make';
}

const FAILED_OUTPUT =
  /^(?:FAIL\b|--- FAIL|panic:|Traceback|npm (?:ERR|error)|fatal:|error:|error\[|make: \*\*\*)|\b[1-9]\d* (?:tests? |examples?,? )?(?:failed|failures?)\b/m;

/** A pipe hides the exit status of what is before it, so a green status is not believed against a red output. */
export function didFail(ran: RanCommand): boolean {
  return ran.failed === true || FAILED_OUTPUT.test(ran.output.slice(-4000));
}
