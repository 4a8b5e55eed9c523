import { describePlace } from '../../../platform/project.ts';
import { requireReader } from '../../cli/readers.ts';
import { redactWords } from '../../cli/redact-words.ts';
import { type Resumed, resumeHere } from '../../cli/resume-here.ts';
import type { Answer, Call } from '../call.ts';
import { findAgent } from '../connection.ts';
import { findOwnSession, listUnderWay } from '../own-session.ts';
import type { BriefWish } from './resume.ts';

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
