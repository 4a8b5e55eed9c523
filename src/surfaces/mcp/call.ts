import type {
  CallToolResult,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import { describeFailure, logFailure } from '../../app/automation/records.ts';
import type { Context } from '../../app/context.ts';
import { cleanText } from '../../app/describe/styled-text.ts';
import { toHandoverError } from '../../app/failure.ts';
import type { Notice } from '../../app/notices.ts';
import type { ErrorCode } from '../../errors.ts';
import { cutToBytes } from '../../model/text.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { type Connection, findFolder } from './connection.ts';

/** One request of a client, in the folder of the project that it is about. */
export interface Call extends Context {
  connection: Connection;
  meta: Readonly<Record<string, unknown>>;
}

/** What a tool answers: text for a model, and the same as data where a program can use it. */
export type Answer = { text: string; data?: Record<string, unknown> };

interface Request {
  connection: Connection;
  context: Pick<ServerContext, 'mcpReq'>;
  /** The folder that the request names; without one, where the client works. */
  project: string | undefined;
}

interface Tool<W> {
  name: string;
  title: string;
  description: string;
  inputSchema: StandardSchemaWithJSON<unknown, W>;
  outputSchema?: StandardSchemaWithJSON;
  annotations: ToolAnnotations;
  work(call: Call, wish: W): Promise<Answer>;
}

/** What registers a tool with the server of a connection. */
export function defineTool<W extends { project?: string | undefined }>({ name, work, ...config }: Tool<W>) {
  return (connection: Connection): void => {
    connection.server.registerTool(name, config, (wish, context) =>
      answer({ connection, context, project: wish.project }, (call) => work(call, wish)),
    );
  };
}

/** Does the work of a tool. A failure becomes an answer that says what went wrong and what to do next. */
async function answer(request: Request, work: (call: Call) => Promise<Answer> | Answer): Promise<CallToolResult> {
  const notices: Notice[] = [];
  try {
    const { text, data } = await work(await openCall(request, notices));
    const lines = notices.flatMap(describeNotice).map((line) => `# ${cleanText(line).trim()}\n`);
    return {
      content: [{ type: 'text', text: `${text.trimEnd()}\n${lines.join('')}` }],
      ...(data === undefined ? {} : { structuredContent: data }),
    };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: describeError(request.connection, error) }] };
  }
}

/** The same for resources and prompts: a failure becomes an error of the protocol. */
export async function serveCall<T>(request: Omit<Request, 'project'>, work: (call: Call) => Promise<T>): Promise<T> {
  try {
    return await work(await openCall({ ...request, project: undefined }, []));
  } catch (error) {
    throw new Error(describeError(request.connection, error), { cause: error });
  }
}

async function openCall({ connection, context, project }: Request, notices: Notice[]): Promise<Call> {
  const cwd = project ?? (await findFolder(connection));
  return {
    connection,
    meta: { ...context.mcpReq._meta },
    machine: { ...connection.machine, cwd },
    notify: (notice) => notices.push(notice),
    progress: () => undefined,
  };
}

function describeNotice({ level, text, next }: Notice): string[] {
  const first = level === 'warning' ? `warning: ${text}` : text;
  return next === undefined ? [first] : [first, `next: ${next}`];
}

/** What an agent can do with the tools of this server, where the hint for a person names a command. */
const HINTS: Partial<Record<ErrorCode, string>> = {
  HANDOVER_NOT_FOUND: 'find the id with the tool "search", or list what is stored with "status"',
  HANDOVER_STORE_EMPTY: 'there is no handover yet; make one with the tool "save"',
  HANDOVER_ID_AMBIGUOUS: 'use one of these ids, or more of the id',
  HANDOVER_TEXT_TOO_LARGE: 'say it in a sentence or two; a long text belongs in a file of the project',
  HANDOVER_PROJECT_MISSING: 'pass "project" as the absolute path of a folder that exists, or leave it out',
  HANDOVER_RECORD_DAMAGED: 'use another handover, and tell the user to run: handover doctor',
  HANDOVER_STORE_DAMAGED: 'tell the user to run: handover doctor',
  HANDOVER_PAUSED: 'nothing is written while there is a PAUSE file; only the user may remove it',
};

const MAX_MESSAGE_BYTES = 2000;

/** For the agent. A bug of ours also goes to the log, where `handover doctor` shows it. */
function describeError({ machine }: Connection, error: unknown): string {
  const known = toHandoverError(error);
  if (known !== null) {
    const hint = HINTS[known.code] ?? known.hint;
    const message = cutToBytes(known.message, MAX_MESSAGE_BYTES);
    return `${known.code}: ${message}${hint === undefined ? '' : `\nnext: ${hint}`}`;
  }
  logFailure(findDataFolder(machine), describeFailure(error, 'mcp', machine.clock.now()));
  return 'this is a bug in agent-handover. Stored handovers are unchanged.\nnext: continue without this tool, and tell the user to run: handover doctor';
}
