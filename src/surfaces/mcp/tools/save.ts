import type { McpServer } from '@modelcontextprotocol/server';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { keptText, project } from '../arguments.ts';
import { answer } from '../call.ts';
import type { Connection } from '../connection.ts';
import { describeInput } from '../input.ts';

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
      answer({ connection, context, project: folder }, async (call) =>
        (await import('./save.run.ts')).save(call, said),
      ),
  );
}
