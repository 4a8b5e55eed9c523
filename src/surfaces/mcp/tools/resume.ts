import type { McpServer } from '@modelcontextprotocol/server';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { DEFAULT_BUDGET } from '../../../brief/compile.ts';
import { describePlace } from '../../../workspace/place.ts';
import { requireReader } from '../../cli/readers.ts';
import { type Resumed, resumeHere } from '../../cli/resume-here.ts';
import { budget, project, text } from '../arguments.ts';
import { type Answer, answer, type Call, isPaused } from '../call.ts';
import { type Connection, findAgent } from '../connection.ts';
import { findOwnSession, listUnderWay } from '../own-session.ts';

const Arguments = v.strictObject({
  goal: v.optional(text('What you are about to do, in a sentence: it steers which facts are told.')),
  budget: budget(DEFAULT_BUDGET),
  project,
});

export interface BriefWish {
  budget: number;
  goal?: string | undefined;
}

export function registerResume(server: McpServer, connection: Connection): void {
  server.registerTool(
    'resume',
    {
      title: 'Take up earlier work',
      description:
        'The brief of the last session in this project: its request, decisions, rules, rejected approaches, open errors, changed files, next steps, and what changed since. Call it when the user wants to go on with earlier work or refers to it, and after your context was compacted. Not needed when a brief ("# Handover …") is already before you.',
      inputSchema: toStandardJsonSchema(Arguments),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project: folder, ...wish }, context) =>
      answer({ connection, context, project: folder }, (call) => tellBrief(call, wish)),
  );
}

async function tellBrief(call: Call, wish: BriefWish): Promise<Answer> {
  const { text: brief, found, place } = await briefHere(call, wish);
  if (brief === '')
    return { text: `# Nothing is kept of ${place.project.name} in ${place.workspace.root} yet.` };
  const leftOut = found?.brief.leftOut.length ?? 0;
  if (leftOut === 0) return { text: brief };
  return { text: `${brief}# By tool: get with the id of a fact, or resume with a larger budget\n` };
}

/** The brief for whoever goes on here. Nothing is captured on the way while a PAUSE file is there. */
export async function briefHere(call: Call, { budget: tokens, goal }: BriefWish): Promise<Resumed> {
  const { root, ...place } = describePlace('.', call.machine);
  const own = await findOwnSession(call, { root, ...place });
  return await resumeHere(call, {
    folder: '.',
    reader: requireReader(findAgent(call.connection) ?? 'generic'),
    options: { budget: tokens, ...(goal === undefined ? {} : { goal }) },
    running: listUnderWay(call, root, own),
    catchesUp: !isPaused(call, root),
  });
}
