import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { describeFailure, logFailure } from '../../app/automation/records.ts';
import { cutToBytes } from '../../model/text.ts';
import { findDataFolder } from '../../platform/paths.ts';
import type { Context } from '../cli/context.ts';
import { toHandoverError } from '../cli/failure.ts';
import { createOutput, type Output } from '../cli/output.ts';
import { adviseOn } from './advice.ts';
import { type Connection, findFolder } from './connection.ts';

/** One request of a client, in the folder of the project that it is about. */
export interface Call extends Context {
  connection: Connection;
  /** What the client sent along with the request. */
  meta: Readonly<Record<string, unknown>>;
}

/** What a tool says: text for a model, and the same as data where a program can make use of it. */
export interface Answer {
  text: string;
  data?: Record<string, unknown>;
}

export interface Asking {
  connection: Connection;
  context: Pick<ServerContext, 'mcpReq'>;
  /** The folder that the request names; without one it is where the client works. */
  project: string | undefined;
}

/** Does the work of a tool. Whatever goes wrong becomes an answer that says so, and what to do next. */
export async function answer(
  asking: Asking,
  work: (call: Call) => Promise<Answer> | Answer,
): Promise<CallToolResult> {
  const notes = openNotes();
  try {
    const { text, data } = await work(await openCall(asking, notes.output));
    const said = `${text.trimEnd()}\n${notes.lines().join('')}`;
    return {
      content: [{ type: 'text', text: said }],
      ...(data === undefined ? {} : { structuredContent: data }),
    };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: tellFailure(asking.connection, error) }] };
  }
}

/** The same for what is no tool: what goes wrong is told as an error of the protocol. */
export async function serveCall<T>(
  asking: Omit<Asking, 'project'>,
  work: (call: Call) => Promise<T>,
): Promise<T> {
  try {
    return await work(await openCall({ ...asking, project: undefined }, openNotes().output));
  } catch (error) {
    throw new Error(tellFailure(asking.connection, error), { cause: error });
  }
}

async function openCall({ connection, context, project }: Asking, err: Output): Promise<Call> {
  const cwd = project ?? (await findFolder(connection));
  return {
    connection,
    meta: { ...context.mcpReq._meta },
    machine: { ...connection.machine, cwd },
    err,
    drawsProgress: false,
  };
}

/** What a person would read on standard error. */
function openNotes(): { output: Output; lines(): string[] } {
  const lines: string[] = [];
  const write = (text: string): boolean => lines.push(`# ${text.trim().replace(/^note: /, '')}\n`) > 0;
  const writeBytes = (bytes: Uint8Array): boolean => write(Buffer.from(bytes).toString('utf8'));
  return { output: createOutput({ isTerminal: false, write, writeBytes }, false), lines: () => lines };
}

const MAX_MESSAGE_BYTES = 2000;

/** In words for the agent. What is a bug of ours is noted in the log, where `handover doctor` tells of it. */
function tellFailure({ machine }: Connection, error: unknown): string {
  const known = toHandoverError(error);
  if (known !== null) {
    const advice = adviseOn(known);
    const message = cutToBytes(known.message, MAX_MESSAGE_BYTES);
    return `${known.code}: ${message}${advice === null ? '' : `\nnext: ${advice}`}`;
  }
  logFailure(findDataFolder(machine), describeFailure(error, 'mcp', machine.clock.now()));
  return 'agent-handover met a case that it does not know. Nothing that was kept is changed.\nnext: go on without this tool, and tell the user to run: handover doctor';
}
