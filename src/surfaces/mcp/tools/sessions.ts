import type { McpServer } from '@modelcontextprotocol/server';
import * as v from 'valibot';
import { AGENT_NAMES } from '../../../agents/agent.ts';
import { limit, project, text } from '../arguments.ts';
import { answer } from '../call.ts';
import type { Connection } from '../connection.ts';
import { describeInput } from '../input.ts';

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
      answer({ connection, context, project: folder }, async (call) =>
        (await import('./sessions.run.ts')).listSessions(call, wish),
      ),
  );
}
