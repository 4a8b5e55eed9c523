import type { Fact } from '../model/fact.ts';
import { cutAtWord } from '../model/text.ts';
import { BY_GIT, draftFact, type Valuation, weighNames } from './facts.ts';
import type { NameKind } from './name-index.ts';
import { dropEmphasis, isChatter, splitSentences } from './prose.ts';
import type { CommandRun, Message, SessionLog } from './session-log.ts';

const MAX_COMMITS = 5;
const MAX_LINKS = 8;
const MAX_MESSAGE_BYTES = 120;
const POINTS = 300;

const MAIN_BRANCH = /^(?:main|master|trunk|develop|HEAD)$/;
/** How git reports a new commit: branch, hash, subject. */
const COMMITTED = /^\[([^\]\n]{1,200}?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$/gm;
const CHANGE_LINK = /https?:\/\/[^\s)>\]"'`]{3,100}\/(?:pull|issues?|merge_requests|browse)\/[\w-]{1,20}/g;

/** Where the work is to be found outside of the session: branch, commits, pull requests and issues. */
export function findReferenceFacts(log: SessionLog, valuation: Valuation): (Fact | null)[] {
  return [
    findBranch(log, valuation),
    ...log.commands.flatMap((run) => findCommits(log, valuation, run)).slice(-MAX_COMMITS),
    ...findLinks(log),
  ];
}

function findBranch({ branch }: SessionLog, valuation: Valuation): Fact | null {
  if (branch === null || MAIN_BRANCH.test(branch)) return null;
  return draftFact('reference', {
    text: `branch ${branch}`,
    line: 0,
    ...BY_GIT,
    weight: { points: POINTS, age: 0, names: weighNames(branch, valuation) },
    detail: { about: 'branch' },
  });
}

function findCommits(log: SessionLog, valuation: Valuation, run: CommandRun): (Fact | null)[] {
  if (!run.command.includes('commit')) return [];
  return [...run.output.matchAll(COMMITTED)].map(([, branch = '', hash = '', message = '']) =>
    draftFact('reference', {
      text: `commit ${hash.slice(0, 10)}${branch === log.branch ? '' : ` on ${branch}`}: ${cutAtWord(message, MAX_MESSAGE_BYTES)}`,
      subject: hash,
      line: run.line,
      ...BY_GIT,
      weight: { points: POINTS, age: log.calls - run.call, names: weighNames(message, valuation) },
      detail: { about: 'commit' },
    }),
  );
}

/** The newest mention of each link counts. */
function findLinks(log: SessionLog): (Fact | null)[] {
  const seen = new Map<string, Message & Pick<Fact, 'origin'>>();
  const collect = (origin: Fact['origin'], messages: readonly Message[]): void => {
    for (const message of messages)
      for (const [link] of message.text.matchAll(CHANGE_LINK)) seen.set(link, { ...message, origin });
  };
  collect('human', log.prompts);
  collect('agent', log.replies);
  const outputs = log.commands.map(({ output, call, line }) => ({ call, line, text: output.slice(0, 4000) }));
  collect('tool', outputs);
  return [...seen]
    .sort(([, a], [, b]) => b.call - a.call)
    .slice(0, MAX_LINKS)
    .map(([link, { call, line, origin }]) =>
      draftFact('reference', {
        text: link,
        line,
        trust: 'quoted',
        origin,
        weight: { points: POINTS, age: log.calls - call },
        detail: { about: 'link' },
      }),
    );
}

const MAX_TERMS = 40;

/** For each error, reference and valuable term: the last sentence about it. */
export function findMentionFacts(log: SessionLog, valuation: Valuation): (Fact | null)[] {
  const passages = collectPassages(log);
  const wanted = [
    ...rankNames(valuation, 'error'),
    ...rankNames(valuation, 'reference'),
    ...rankNames(valuation, 'qualified').slice(0, MAX_TERMS),
  ];
  return wanted.map((name) => {
    const found = findSentence(passages, name);
    if (found === null) return null;
    return draftFact('reference', {
      text: found.text,
      line: found.line,
      trust: 'quoted',
      origin: found.origin,
      weight: { points: 0, age: log.calls - found.call, names: weighNames(found.text, valuation) },
      detail: { about: name },
    });
  });
}

/** The most valuable first. */
function rankNames(valuation: Valuation, kind: NameKind): string[] {
  return [...valuation.values[kind]]
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .map(([name]) => name);
}

interface Passage extends Message {
  origin: Fact['origin'];
  /** Without emphasis, as sentences are. */
  plain: string;
  /** Null until a name of the passage is looked up. */
  sentences: readonly string[] | null;
}

/** All prose, newest first in each group: messages, then summaries and proposed plans, then reports of sub-agents. */
function collectPassages(log: SessionLog): Passage[] {
  const toPassages = (origin: Fact['origin'], messages: readonly Message[]): Passage[] =>
    messages.map((message) => ({ ...message, origin, plain: dropEmphasis(message.text), sentences: null }));
  const reported = log.results.filter((result) => result.source === 'report');
  const reports = reported.map(({ call, text }) => ({ call, text, line: 0 }));
  return [
    [...toPassages('human', log.prompts), ...toPassages('agent', log.replies)],
    toPassages('agent', [...log.summaries, ...log.proposals]),
    toPassages('tool', reports),
  ].flatMap((group) => group.sort((a, b) => b.call - a.call || b.line - a.line));
}

/** The first sentence with the name, with where it is from. */
function findSentence(passages: readonly Passage[], name: string): Passage | null {
  for (const passage of passages) {
    if (!passage.plain.includes(name)) continue;
    passage.sentences ??= splitSentences(passage.text).filter((text) => !isChatter(text));
    const text = passage.sentences.find((sentence) => hasWhole(sentence, name));
    if (text !== undefined) return { ...passage, text };
  }
  return null;
}

/** Whether the name occurs other than as a part of a longer word. */
function hasWhole(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1))
    if (!/\w/.test(text.charAt(at - 1)) && !/\w/.test(text.charAt(at + name.length))) return true;
  return false;
}
