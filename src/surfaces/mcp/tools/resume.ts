import type { McpServer } from '@modelcontextprotocol/server';
import * as v from 'valibot';
import { describePlace } from '../../../platform/place.ts';
import { requireReader } from '../../cli/readers.ts';
import { redactWords } from '../../cli/redact-words.ts';
import { type Resumed, resumeHere } from '../../cli/resume-here.ts';
import { budget, project, text } from '../arguments.ts';
import { type Answer, answer, type Call } from '../call.ts';
import { type Connection, findAgent } from '../connection.ts';
import { describeInput } from '../input.ts';
import { findOwnSession, listUnderWay } from '../own-session.ts';

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
      answer({ connection, context, project: folder }, (call) => resume(call, wish)),
  );
}

export async function resume(call: Call, wish: BriefWish): Promise<Answer> {
  const { text, found, place } = await briefHere(call, wish);
  if (text === '')
    return { text: `# Nothing is kept of ${place.project.name} in ${place.workspace.root} yet.` };
  if (found === null) return { text };
  const more =
    found.brief.leftOut.length === 0 ? '' : 'search for what was left out, or resume with a larger budget; ';
  return {
    text: `${text}# By tool: ${more}resolve with the words of a line when it is done or did not hold\n`,
  };
}

/** The brief for whoever goes on here. */
export async function briefHere(call: Call, { budget, goal }: BriefWish): Promise<Resumed> {
  const place = describePlace('.', call.machine);
  const own = await findOwnSession(call, place);
  return await resumeHere(call, {
    folder: '.',
    reader: requireReader(findAgent(call.connection) ?? 'generic'),
    options: { budget, ...(goal === undefined ? {} : { goal: await redactWords.call(call, goal) }) },
    running: listUnderWay(call, place.root, own),
  });
}
