import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { usageError } from '../../../errors.ts';
import { type Answer, type Call, defineTool } from '../call.ts';
import { findAgent } from '../connection.ts';
import { describeInput, project, storedText, toggle, WRITES } from '../input.ts';

const MAX_PER_KIND = 20;

function texts(description: string): v.OptionalSchema<v.GenericSchema<string[]>, undefined> {
  return v.optional(
    v.pipe(
      v.array(storedText('A sentence or two that can be understood without this conversation.')),
      v.maxLength(MAX_PER_KIND),
      v.description(description),
    ),
    undefined,
  );
}

const Arguments = v.strictObject({
  decision: texts('What was decided, with its reason: "sessions in Redis, because two instances share them".'),
  constraint: texts('Rules that the user or the project gave and that hold from now on.'),
  rejected: texts('What was tried or considered and turned down, and why, so that nobody tries it again.'),
  next: texts('What is to be done next, in order. They replace the next steps declared before.'),
  question: texts('What has to be asked or found out.'),
  blocker: texts('What the work waits for.'),
  note: texts('Anything else that the next session must know.'),
  pin: toggle('Keep these in every brief of this project until they are resolved.'),
  project,
});

const SaveOutput = v.object({
  handover: v.string(),
  /** False when all of it was saved before. */
  changed: v.boolean(),
  session: v.nullable(v.string()),
  facts: v.array(v.object({ id: v.string(), kind: v.string(), text: v.string() })),
});

export const registerSave = defineTool({
  name: 'save',
  title: 'Save something for the next session',
  description:
    'Saves decisions, rules, rejected approaches, next steps and open questions of this session, for the next one, of any agent. Call it at the moment when something is settled or turned down, and before a long session ends. Files, commands and what was said are captured automatically: do not save those. Saving the same again changes nothing. Secrets are redacted.',
  inputSchema: describeInput(Arguments),
  outputSchema: toStandardJsonSchema(SaveOutput),
  annotations: WRITES,
  work: save,
});

const KIND_NAMES = ['decision', 'constraint', 'rejected', 'next', 'question', 'blocker', 'note'] as const;

async function save(call: Call, { pin, ...declared }: v.InferOutput<typeof Arguments>): Promise<Answer> {
  const facts = KIND_NAMES.flatMap((kind) => (declared[kind] ?? []).map((words) => ({ kind, text: words })));
  if (facts.length === 0)
    throw usageError('there is nothing to save', `pass at least one of ${KIND_NAMES.join(', ')}, each a list of texts`);
  const { saveFromAgent } = await import('../../../app/save.ts');
  const { describePlace } = await import('../../../platform/project.ts');
  const { findOwnSession } = await import('../own-session.ts');
  const place = describePlace('.', call.machine);
  const session = await findOwnSession(call, place);
  const agent = session?.agent ?? findAgent(call.connection) ?? 'mcp';
  const saved = await saveFromAgent(call, { agent, facts, pinned: pin, session, place });
  const { handover, outcome } = saved;
  const names = saved.facts.map(({ id, kind }) => `${kind} ${id}`).join(', ');
  return {
    text: `${outcome === 'saved' ? 'saved in' : 'already saved in'} handover ${handover.id}: ${names}`,
    data: {
      handover: handover.id,
      changed: outcome === 'saved',
      session: handover.session.id,
      facts: saved.facts.map(({ id, kind, text: words }) => ({ id, kind, text: words })),
    },
  };
}
