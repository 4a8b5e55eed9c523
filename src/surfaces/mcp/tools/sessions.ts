import type { McpServer } from '@modelcontextprotocol/server';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { AGENT_NAMES, type FoundSession } from '../../../agents/agent.ts';
import { findSessions } from '../../../capture/find-session.ts';
import { cleanLine, cutAtWord } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import { identifyProject } from '../../../workspace/project.ts';
import { parseMoment } from '../../cli/words.ts';
import { limit, project, text } from '../arguments.ts';
import { type Answer, answer, type Call } from '../call.ts';
import type { Connection } from '../connection.ts';
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
type Wish = Omit<v.InferOutput<typeof Arguments>, 'project'>;

export function registerSessions(server: McpServer, connection: Connection): void {
  server.registerTool(
    'sessions',
    {
      title: 'List sessions of agents',
      description:
        'The sessions of every coding agent on this machine that worked in this project, newest first: agent, id, age, folder and title. Call it to find out who worked here before and when; what they did is told by resume, search and get.',
      inputSchema: toStandardJsonSchema(Arguments),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project: folder, ...wish }, context) =>
      answer({ connection, context, project: folder }, (call) => listSessions(call, wish)),
  );
}

const MAX_TITLE_BYTES = 120;
const BUDGET = 2000;

async function listSessions(call: Call, { agent, since, everywhere, limit: most }: Wish): Promise<Answer> {
  const { machine } = call;
  const now = machine.clock.now();
  const found = await findSessions(machine, {
    ...(agent === undefined ? {} : { agent }),
    ...(everywhere ? {} : { project: identifyProject('.', machine).id }),
    ...(since === undefined ? {} : { sinceMs: parseMoment(since, now, 'first') }),
  });
  const shown = found.slice(0, most);
  const head = [`# ${found.length} sessions, newest first`, DATA_NOT_ORDERS];
  const more = (count: number): string =>
    `${count + found.length - shown.length} sessions; ask with since, agent or a larger limit`;
  const entries = shown.map((session) => [describeSession(session, now)]);
  const sheet = printSheet({ head, entries, budget: BUDGET, more });
  return {
    text:
      shown.length < found.length && !sheet.includes('# Left out')
        ? `${sheet}# Left out: ${more(0)}\n`
        : sheet,
  };
}

function describeSession({ id, agent, cwd, title, changedMs }: FoundSession, now: number): string {
  const name = title === null ? '' : `: ${cutAtWord(cleanLine(title), MAX_TITLE_BYTES)}`;
  return quote(`${agent} ${id}, ${describeAge(now - changedMs)}, ${cwd ?? 'folder unknown'}${name}`);
}
