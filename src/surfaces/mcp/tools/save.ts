import type { McpServer } from '@modelcontextprotocol/server';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { loadAgent } from '../../../agents/table.ts';
import { keepDeclared } from '../../../app/capture/keep-declared.ts';
import { HandoverError } from '../../../errors.ts';
import { assertNotPaused } from '../../../memory/runs/brake.ts';
import { describePlace } from '../../../platform/place.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { findStore, noteJournalFailure } from '../../cli/context.ts';
import { keptText, project } from '../arguments.ts';
import { type Answer, answer, type Call } from '../call.ts';
import { type Connection, findAgent } from '../connection.ts';
import { describeInput } from '../input.ts';
import { findOwnSession } from '../own-session.ts';

const MOST_OF_A_KIND = 20;

function texts(description: string): v.OptionalSchema<v.GenericSchema<string[]>, undefined> {
  return v.optional(
    v.pipe(
      v.array(keptText('A sentence or two that can be understood without this conversation.')),
      v.maxLength(MOST_OF_A_KIND),
      v.description(description),
    ),
    undefined,
  );
}

const KINDS = {
  decision: texts(
    'What was decided, with its reason: "sessions in Redis, because two instances share them".',
  ),
  constraint: texts('Rules that the user or the project gave and that hold from now on.'),
  rejected: texts('What was tried or considered and turned down, and why, so that nobody tries it again.'),
  next: texts('What is to be done next, in order. They take the place of the next steps declared before.'),
  question: texts('What has to be asked or found out.'),
  blocker: texts('What the work waits for.'),
  note: texts('Anything else that the next session must know.'),
};

const Arguments = v.strictObject({
  ...KINDS,
  pin: v.optional(
    v.pipe(v.boolean(), v.description('Keep these in every brief of this project until they are resolved.')),
    false,
  ),
  project,
});
export type Said = Omit<v.InferOutput<typeof Arguments>, 'project'>;

const Saved = v.object({
  handover: v.string(),
  /** False when all of it was kept before. */
  changed: v.boolean(),
  session: v.nullable(v.string()),
  facts: v.array(v.object({ id: v.string(), kind: v.string(), text: v.string() })),
});

export function registerSave(server: McpServer, connection: Connection): void {
  server.registerTool(
    'save',
    {
      title: 'Keep something for the next session',
      description:
        'Keeps decisions, rules, rejected approaches, next steps and open questions of this session, so that the next one, of any agent, is told of them. Call it at the moment when something is settled or turned down, and before a long session ends. Files, commands and what was said are kept by themselves: do not save those. Saving the same again changes nothing. Secrets are taken out.',
      inputSchema: describeInput(Arguments),
      outputSchema: toStandardJsonSchema(Saved),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    ({ project: folder, ...said }, context) =>
      answer({ connection, context, project: folder }, (call) => save(call, said)),
  );
}

const KIND_NAMES = ['decision', 'constraint', 'rejected', 'next', 'question', 'blocker', 'note'] as const;

export async function save(call: Call, { pin, ...said }: Said): Promise<Answer> {
  const declared = KIND_NAMES.flatMap((kind) => (said[kind] ?? []).map((words) => ({ kind, text: words })));
  if (declared.length === 0)
    throw new HandoverError('HANDOVER_USAGE', 'there is nothing to save', {
      hint: `give at least one of ${KIND_NAMES.join(', ')}, each a list of texts`,
    });
  const place = describePlace('.', call.machine);
  assertNotPaused(call.machine, findProjectFolder(place.root));
  const session = await findOwnSession(call, place);
  const kept = await keepDeclared(
    findStore(call),
    {
      agent: session?.agent ?? findAgent(call.connection) ?? 'mcp',
      facts: declared,
      pinned: pin,
      session: session === null ? null : { agent: await loadAgent(session.agent), session },
    },
    place,
  );
  noteJournalFailure(call, kept);
  const { handover, facts, outcome } = kept;
  return {
    text: `${outcome === 'kept' ? 'saved in' : 'was kept already in'} handover ${handover.id}: ${facts.map(({ id, kind }) => `${kind} ${id}`).join(', ')}`,
    data: {
      handover: handover.id,
      changed: outcome === 'kept',
      session: handover.session.id,
      facts: facts.map(({ id, kind, text: words }) => ({ id, kind, text: words })),
    },
  };
}
