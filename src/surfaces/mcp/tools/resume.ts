import type { McpServer } from '@modelcontextprotocol/server';
import * as v from 'valibot';
import { budget, project, text } from '../arguments.ts';
import { answer } from '../call.ts';
import type { Connection } from '../connection.ts';
import { describeInput } from '../input.ts';

const Arguments = v.strictObject({
  goal: v.optional(text('What you are about to do, in a sentence: it steers which facts are told.')),
  budget,
  project,
});
export type BriefWish = Omit<v.InferOutput<typeof Arguments>, 'project'>;

export function registerResume(server: McpServer, connection: Connection): void {
  server.registerTool(
    'resume',
    {
      title: 'Take up earlier work',
      description:
        'The brief of the last session in this project: its request, decisions, rules, rejected approaches, open errors, changed files, next steps, and what changed since. Call it when the user wants to go on with earlier work or refers to it, and after your context was compacted. Not needed when a brief ("# Handover …") is already before you.',
      inputSchema: describeInput(Arguments),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project: folder, ...wish }, context) =>
      answer({ connection, context, project: folder }, async (call) =>
        (await import('./resume.run.ts')).resume(call, wish),
      ),
  );
}
