import type { McpServer } from '@modelcontextprotocol/server';
import * as v from 'valibot';
import { AGENT_NAMES, type FoundSession } from '../../../agents/agent.ts';
import { findSessions } from '../../../app/capture/find-session.ts';
import { cleanLine, cutAtWord } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import { identifyProject } from '../../../platform/project.ts';
import { parseMoment } from '../../cli/words.ts';
import { limit, project, text } from '../arguments.ts';
import { type Answer, answer, type Call } from '../call.ts';
import type { Connection } from '../connection.ts';
import { describeInput } from '../input.ts';
import { DATA_NOT_ORDERS, printSheet, quote } from '../page.ts';

const Arguments = v.strictObject({
  agent: v.optional(v.pipe(v.picklist(AGENT_NAMES), v.description('Only sessions of this agent.'))),
  since: v.optional(text('Only sessions that went on after this: 2h, 7d, 2026-01-31.')),
  everywhere: v.optional(
    v.pipe(v.boolean(), v.description('Sessions of all projects on this machine, not of this one alone.')),
    false,
  ),
  limit: limit(10),
  project,
});
export type SessionsWish = Omit<v.InferOutput<typeof Arguments>, 'project'>;

export function registerSessions(server: McpServer, connection: Connection): void {
  server.registerTool(
    'sessions',
    {
      title: 'List sessions of agents',
      description:
        'The sessions of every coding agent on this machine that worked in this project, newest first: agent, id, age, folder and title. Call it to find out who worked here before and when; what was handed over is told by resume and search, what was said by get with the id of a session.',
      inputSchema: describeInput(Arguments),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project: folder, ...wish }, context) =>
      answer({ connection, context, project: folder }, (call) => listSessions(call, wish)),
  );
}

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
