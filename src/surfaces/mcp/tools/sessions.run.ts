import type { FoundSession } from '../../../agents/agent.ts';
import { findSessions } from '../../../agents/find-session.ts';
import { cleanLine, cutAtWord } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import { identifyProject } from '../../../platform/project.ts';
import { parseMoment } from '../../cli/words.ts';
import type { Answer, Call } from '../call.ts';
import { DATA_NOT_ORDERS, printSheet, quote } from '../page.ts';
import type { SessionsWish } from './sessions.ts';

const MAX_TITLE_BYTES = 120;
const BUDGET = 2000;

export async function listSessions(call: Call, wish: SessionsWish): Promise<Answer> {
  const { machine } = call;
  const now = machine.clock.now();
  const found = await findSessions(machine, {
    ...(wish.agent === undefined ? {} : { agent: wish.agent }),
    ...(wish.everywhere ? {} : { project: identifyProject('.', machine).id }),
    ...(wish.since === undefined ? {} : { sinceMs: parseMoment(wish.since, now, 'first') }),
  });
  if (found.length === 0) {
    const wider = wish.everywhere ? '' : '; those of all projects with everywhere: true';
    return { text: `# No session was found${wider}` };
  }
  return {
    text: printSheet({
      head: [`# Sessions: ${found.length}, newest first`, DATA_NOT_ORDERS],
      entries: found.map((session) => [describeSession(session, now)]),
      budget: BUDGET,
      most: wish.limit,
      more: (count) => `${count} sessions; ask with since, agent or a larger limit`,
    }),
  };
}

function describeSession({ id, agent, cwd, title, changedMs }: FoundSession, now: number): string {
  const name = title === null ? '' : `: ${cutAtWord(cleanLine(title), MAX_TITLE_BYTES)}`;
  return quote(`${agent} ${id}, ${describeAge(now - changedMs)}, ${cwd ?? 'folder unknown'}${name}`);
}
