import type { Fact } from '../model/fact.ts';
import { cutAtWord } from '../model/text.ts';
import { listCommits } from './commits.ts';
import { BY_GIT, draftFact } from './facts.ts';
import type { Message, SessionLog } from './session-log.ts';

const MAX_COMMITS = 8;
const MAX_LINKS = 8;
const MAX_MESSAGE_BYTES = 120;
const MAX_BODY_BYTES = 2000;

const MAIN_BRANCH = /^(?:main|master|trunk|develop|HEAD)$/;
const CHANGE_LINK = /https?:\/\/[^\s)>\]"'`]{3,100}\/(?:pull|issues?|merge_requests|browse)\/[\w-]{1,20}/g;

/** Where the work is to be found outside of the session: branch, commits, pull requests and issues. */
export function findReferenceFacts(log: SessionLog): (Fact | null)[] {
  return [findBranch(log), ...findCommits(log), ...findLinks(log)];
}

function findBranch({ branch }: SessionLog): Fact | null {
  if (branch === null || MAIN_BRANCH.test(branch)) return null;
  return draftFact('reference', { text: `branch ${branch}`, line: 0, ...BY_GIT, age: 0, detail: { about: 'branch' } });
}

function findCommits(log: SessionLog): (Fact | null)[] {
  return listCommits(log.commands)
    .filter(({ hash }) => hash !== '')
    .slice(-MAX_COMMITS)
    .map(({ hash, branch, subject, body, run }) =>
      draftFact('reference', {
        text: `commit ${hash}${branch === log.branch ? '' : ` on ${branch}`}: ${cutAtWord(subject, MAX_MESSAGE_BYTES)}`,
        subject: hash,
        line: run.line,
        ...BY_GIT,
        age: log.calls - run.call,
        detail: { about: 'commit', ...(body === '' ? {} : { body: cutAtWord(body, MAX_BODY_BYTES) }) },
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
        age: log.calls - call,
        detail: { about: 'link' },
      }),
    );
}
