import * as v from 'valibot';
import { AGENT_NAMES } from '../../../agents/agent.ts';
import { cleanLine, countNouns, cutAtWord } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import { type Answer, type Call, defineTool } from '../call.ts';
import { describeInput, limit, project, READS, text, toggle } from '../input.ts';
import { DATA_NOT_INSTRUCTIONS, printPage, quote } from '../page.ts';

const Arguments = v.strictObject({
  agent: v.optional(v.pipe(v.picklist(AGENT_NAMES), v.description('Only sessions of this agent.'))),
  since: v.optional(text('Only sessions that changed after this: 2h, 7d, 2026-01-31.')),
  everywhere: toggle('Sessions of all projects on this machine, not only of this one.'),
  limit: limit(10),
  project,
});

export const registerSessions = defineTool({
  name: 'sessions',
  title: 'List sessions of agents',
  description:
    'The sessions of every coding agent on this machine that worked in this project, newest first: agent, id, age, folder and title. Call it to find out who worked here before and when; for what was handed over use resume and search, for what was said use get with the id of a session.',
  inputSchema: describeInput(Arguments),
  annotations: READS,
  work: listSessions,
});

const MAX_TITLE_BYTES = 120;
const BUDGET = 2000;

async function listSessions(call: Call, wish: v.InferOutput<typeof Arguments>): Promise<Answer> {
  const { dateSessions, findSessions } = await import('../../../agents/find-session.ts');
  const { parseMoment } = await import('../../../app/parse.ts');
  const { identifyProject } = await import('../../../platform/project.ts');
  const { machine } = call;
  const now = machine.clock.now();
  const sinceMs = wish.since === undefined ? undefined : parseMoment(wish.since, now, 'first');
  const project = wish.everywhere ? undefined : identifyProject('.', machine).id;
  const changed = dateSessions(await findSessions(machine, { agent: wish.agent, project, sinceMs }));
  const found = changed.filter(({ changedMs }) => changedMs >= (sinceMs ?? 0));
  if (found.length === 0) {
    const wider = wish.everywhere ? '' : '; for all projects ask with everywhere: true';
    return { text: `# No session found${wider}` };
  }
  return {
    text: printPage({
      head: [`# Sessions: ${found.length}, newest first`, DATA_NOT_INSTRUCTIONS],
      entries: found.map(({ id, agent, cwd, title, changedMs }) => {
        const name = title === null ? '' : `: ${cutAtWord(cleanLine(title), MAX_TITLE_BYTES)}`;
        return [quote(`${agent} ${id}, ${describeAge(now - changedMs)}, ${cwd ?? 'folder unknown'}${name}`)];
      }),
      budget: BUDGET,
      most: wish.limit,
      more: (count) => `${countNouns(count, 'session')}; ask with since, agent or a larger limit`,
    }),
  };
}
