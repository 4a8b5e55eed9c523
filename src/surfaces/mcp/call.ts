import type {
  CallToolResult,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import { describeFailure, logFailure } from '../../app/automation/records.ts';
import type { Context } from '../../app/context.ts';
import { toHandoverError } from '../../app/failure.ts';
import type { Notice } from '../../app/notices.ts';
import type { ErrorCode } from '../../errors.ts';
import { closeLine } from '../../handover/brief/lines.ts';
import { cutToBytes, disarmFrames, revealText } from '../../model/text.ts';
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
    const lines = text.trimEnd().split('\n').map(closeLine);
    const said = notices.flatMap(describeNotice).map((line) => `# ${disarmFrames(revealText(line)).trim()}`);
    return {
      content: [{ type: 'text', text: [...lines, ...said, ''].join('\n') }],
      ...(data === undefined ? {} : { structuredContent: disarmRecord(data) }),
    };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: await describeError(request.connection, error) }] };
  }
}

/** No text in data opens or closes a frame either: a client may show it to its model as it is. */
function disarmRecord(record: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, disarmValue(value)]));
}

function disarmValue(value: unknown): unknown {
  if (typeof value === 'string') return disarmFrames(value);
  if (Array.isArray(value)) return value.map(disarmValue);
  return typeof value === 'object' && value !== null ? disarmRecord(value) : value;
}

/** The same for resources and prompts: a failure becomes an error of the protocol. */
export async function serveCall<T>(request: Omit<Request, 'project'>, work: (call: Call) => Promise<T>): Promise<T> {
  try {
    return await work(await openCall({ ...request, project: undefined }, []));
  } catch (error) {
    throw new Error(await describeError(request.connection, error), { cause: error });
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

/** For the agent; what it quotes may hold a secret. A bug of ours also goes to the log, where `handover doctor` shows it. */
async function describeError({ machine }: Connection, error: unknown): Promise<string> {
  const known = toHandoverError(error);
  if (known !== null) {
    const hint = HINTS[known.code] ?? known.hint;
    const { openPlainRedactor } = await import('../../redact/open-redactor.ts');
    const message = cutToBytes(openPlainRedactor().redactText(known.message), MAX_MESSAGE_BYTES);
    return `${known.code}: ${message}${hint === undefined ? '' : `\nnext: ${hint}`}`;
  }
  logFailure(findDataFolder(machine), await describeFailure(error, 'mcp', machine.clock.now()));
  return 'this is a bug in agent-handover. Stored handovers are unchanged.\nnext: continue without this tool, and tell the user to run: handover doctor';
}
