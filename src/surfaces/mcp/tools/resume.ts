import * as v from 'valibot';
import { redactInput } from '../../../app/context.ts';
import type { Resumption } from '../../../app/resume.ts';
import { type Answer, type Call, defineTool } from '../call.ts';
import { findAgent } from '../connection.ts';
import { budget, describeInput, project, READS, text } from '../input.ts';

const Arguments = v.strictObject({
  goal: v.optional(text('What you are about to do, in a sentence: it guides which facts you get.')),
  budget,
  project,
});
type BriefRequest = v.InferOutput<typeof Arguments>;

export const registerResume = defineTool({
  name: 'resume',
  title: 'Resume earlier work',
  description:
    'The brief of the last session in this project: its request, decisions, rules, rejected approaches, open errors, changed files, next steps, and what changed since. Call it when the user wants to continue earlier work or refers to it, and after your context was compacted. Not needed when a brief ("# Handover …") is already before you.',
  inputSchema: describeInput(Arguments),
  annotations: READS,
  work: resume,
});

async function resume(call: Call, request: BriefRequest): Promise<Answer> {
  const { text, found, place } = await briefHere(call, request);
  if (text === '') return { text: `# ${place.project.name} in ${place.workspace.root} has no handover yet.` };
  if (found === null) return { text };
  const more = found.brief.leftOut.length === 0 ? '' : 'search for what was left out, or resume with a larger budget; ';
  return { text: `${text}# By tool: ${more}resolve with the words of a line when it is done or turned out wrong\n` };
}

/** The brief for the next session here. */
export async function briefHere(call: Call, { budget, goal }: BriefRequest): Promise<Resumption> {
  const { requireReader } = await import('../../../app/parse.ts');
  const { resumeHere } = await import('../../../app/resume.ts');
  const { describePlace } = await import('../../../platform/project.ts');
  const { findOwnSession, listCallerSessions } = await import('../own-session.ts');
  const place = describePlace('.', call.machine);
  const own = await findOwnSession(call, place);
  return await resumeHere(call, {
    folder: '.',
    reader: requireReader(findAgent(call.connection) ?? 'generic'),
    options: { budget, ...(goal === undefined ? {} : { goal: await redactInput(call, goal) }) },
    running: listCallerSessions(call, place.root, own),
  });
}
