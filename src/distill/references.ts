import type { Fact } from '../model/fact.ts';
import { cutAtWord } from '../model/text.ts';
import type { Account, RanCommand } from './account.ts';
import { draftFact } from './draft-fact.ts';
import type { Valuation } from './value.ts';
import { weighNames } from './weigh.ts';

const MAX_COMMITS = 5;
const MAX_LINKS = 8;
const MAX_MESSAGE_BYTES = 120;
const POINTS = 300;

/** Branches that everybody expects. */
const MAIN_LINE = /^(?:main|master|trunk|develop|HEAD)$/;
/** What git calls a new commit in its output: branch, hash, first line of the message. */
const COMMITTED = /^\[([^\]\n]{1,200}?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$/gm;
const CHANGE_LINK = /https?:\/\/[^\s)>\]"'`]{3,100}\/(?:pull|issues?|merge_requests|browse)\/[\w-]{1,20}/g;

/** Where the work can be found outside of the session: the branch, the commits that were made, pull requests and issues. */
export function findReferenceFacts(account: Account, valuation: Valuation): Fact[] {
  const facts = [
    findBranch(account, valuation),
    ...account.commands.flatMap((ran) => findCommits(account, valuation, ran)).slice(-MAX_COMMITS),
    ...findLinks(account),
  ];
  return facts.filter((fact) => fact !== null);
}

function findBranch(account: Account, valuation: Valuation): Fact | null {
  if (account.branch === null || MAIN_LINE.test(account.branch)) return null;
  return draftFact('reference', {
    text: `branch ${account.branch}`,
    line: 0,
    trust: 'observed',
    origin: 'git',
    weight: { points: POINTS, age: 0, names: weighNames(account.branch, valuation) },
    detail: { about: 'branch' },
  });
}

function findCommits(account: Account, valuation: Valuation, ran: RanCommand): (Fact | null)[] {
  if (!ran.command.includes('commit')) return [];
  return [...ran.output.matchAll(COMMITTED)].map(([, branch = '', hash = '', message = '']) =>
    draftFact('reference', {
      text: `commit ${hash.slice(0, 10)}${branch === account.branch ? '' : ` on ${branch}`}: ${cutAtWord(message, MAX_MESSAGE_BYTES)}`,
      subject: hash,
      line: ran.line,
      trust: 'observed',
      origin: 'git',
      weight: { points: POINTS, age: account.calls - ran.call, names: weighNames(message, valuation) },
      detail: { about: 'commit' },
    }),
  );
}

/** The newest mention of each link counts. */
function findLinks(account: Account): (Fact | null)[] {
  const seen = new Map<string, { call: number; line: number; origin: Fact['origin'] }>();
  const meet = (text: string, call: number, more: { line: number; origin: Fact['origin'] }): void => {
    for (const [link] of text.matchAll(CHANGE_LINK)) seen.set(link, { call, ...more });
  };
  for (const { text, call, line } of account.prompts) meet(text, call, { line, origin: 'human' });
  for (const { text, call, line } of account.replies) meet(text, call, { line, origin: 'agent' });
  for (const { output, call, line } of account.commands)
    meet(output.slice(0, 4000), call, { line, origin: 'tool' });
  return [...seen]
    .sort(([, a], [, b]) => b.call - a.call)
    .slice(0, MAX_LINKS)
    .map(([link, { call, line, origin }]) =>
      draftFact('reference', {
        text: link,
        line,
        trust: 'quoted',
        origin,
        weight: { points: POINTS, age: account.calls - call },
        detail: { about: 'link' },
      }),
    );
}
