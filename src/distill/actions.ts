import { countNouns, cutAtWord } from '../model/text.ts';
import type { CommandRun, SessionLog } from './session-log.ts';
import { splitSegments } from './shell.ts';

const MAX_SUBJECT_BYTES = 90;
const MAX_COMMAND_BYTES = 80;

/** What a service is told to change of a pull request, an issue or a release. */
const ACTION =
  /^(?:gh (?:pr|issue|release)|glab (?:mr|issue|release)) (?:create|new|merge|ready|review|approve|comment|note|close|reopen|edit|update|delete|transfer|revert|upload)\b/;
/** What changes something elsewhere and prints no reference. */
const CHANGING =
  /^(?:gh (?:variable|secret|label) (?:set|create|delete)|gh workflow run|kubectl (?:apply|delete|scale|rollout restart)|helm (?:install|upgrade|uninstall)|terraform (?:apply|destroy)|docker push|npm publish|cargo publish|twine upload)\b/;
const REFERENCE = /https?:\/\/\S{3,100}\/(?:pull|issues?|merge_requests)\/[\w-]+|(?<!\w)#\d+/;
/** What an action is about, as its argument names it. */
const NUMBER = /^["']?#?(\d+)["']?$/;
const TITLE = /--title[= ](["'])(.*?)\1/;
const MAX_ACTIONS = 5;

/** What was done outside of the files: pull requests, issues, comments. */
export function describeActions(log: SessionLog): string | null {
  const byCommand = log.commands.flatMap((run) =>
    run.failed === false ? findActions(run).map((text) => ({ call: run.call, text })) : [],
  );
  const unique = [...new Set([...byCommand, ...log.actions].sort((a, b) => a.call - b.call).map(({ text }) => text))];
  return unique.length === 0 ? null : `Done outside of the files: ${unique.slice(-MAX_ACTIONS).join('; ')}.`;
}

const REFUSED = /^(?:error|fatal|GraphQL)\b|\b(?:create|merge|close|edit) failed\b|\balready exists\b/m;

/** What is new, and what a hidden status leaves open, must be named by the output. A here-document may hold anything. */
function findActions({ command, output }: CommandRun): string[] {
  const seen = REFERENCE.exec(output)?.[0];
  return splitSegments(command).flatMap(({ text, words, isHidden }) => {
    if (words.includes('--dry-run') || words.includes('--help') || (isHidden && REFUSED.test(output))) return [];
    if (CHANGING.test(text) && !isHidden) return [cutAtWord(text, MAX_COMMAND_BYTES)];
    const action = ACTION.exec(words.join(' '))?.[0];
    if (action === undefined || ((isHidden || NEW.test(action)) && seen === undefined)) return [];
    const number = NUMBER.exec(words[3] ?? '')?.[1];
    const named = number === undefined || seen?.endsWith(`/${number}`) ? seen : `#${number}`;
    const title = TITLE.exec(text)?.[2];
    const parts = [action, named, title === undefined ? undefined : `"${cutAtWord(title, MAX_SUBJECT_BYTES)}"`];
    return [parts.filter((part) => part !== undefined).join(' ')];
  });
}

const NEW = / (?:create|new)$/;

/** Trackers whose issues are in the repository: nobody else sees them. */
const LOCAL_ISSUE = /^(?:bd|br) (create|new|q|close|done)$/;
const ISSUE_ID = '[a-z][\\w-]*-[a-z0-9]{1,10}(?:\\.\\d+)*';
const MADE_ISSUE = new RegExp(
  `"id": ?"(${ISSUE_ID})"|^[^\\w\\n]{0,8}Created(?: issue)?:? (${ISSUE_ID})\\b|^(${ISSUE_ID})$`,
  'm',
);
const WHOLE_ID = new RegExp(`^${ISSUE_ID}$`);
const MAX_ISSUES = 8;

/** Issues of a local tracker that the session made and did not close, by their own titles. */
export function describeIssues({ commands }: SessionLog): string | null {
  const open = new Map<string, string>();
  for (const { command, failed, output } of commands) {
    if (failed !== false || !/\bb[dr] /.test(command)) continue;
    for (const { text, words } of splitSegments(command)) {
      const verb = LOCAL_ISSUE.exec(words.slice(0, 2).join(' '))?.[1];
      if (verb === undefined) continue;
      const title = TITLE.exec(text)?.[2] ?? FIRST_QUOTED.exec(text)?.[2];
      const made = MADE_ISSUE.exec(output);
      const id = made?.[1] ?? made?.[2] ?? made?.[3];
      if (verb === 'close' || verb === 'done') for (const word of words.filter(isIssue)) open.delete(word);
      else if (id !== undefined && title !== undefined) open.set(id, `${id} "${cutAtWord(title, MAX_SUBJECT_BYTES)}"`);
    }
  }
  if (open.size === 0) return null;
  const shown = [...open.values()].slice(-MAX_ISSUES);
  const more = open.size > shown.length ? ` (${countNouns(open.size - shown.length, 'earlier one')})` : '';
  return `Issues made here and not closed here: ${shown.join('; ')}${more}.`;
}

const FIRST_QUOTED = /^\S+ \S+ (["'])(.*?)\1/;

function isIssue(word: string): boolean {
  return WHOLE_ID.test(word);
}
