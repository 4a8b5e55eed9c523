import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import { anthropic } from './anthropic.ts';
import { chat } from './chat.ts';
import { gemini } from './gemini.ts';
import {
  type Answer,
  type Events,
  Json,
  type Message,
  type Protocol,
  type Question,
  type Reply,
  type ToolCall,
} from './protocol.ts';
import { responses } from './responses.ts';
import { fillSchema } from './schema.ts';

/** What the model does when it is asked: call a tool, say something and stop, or never answer. */
export type Step =
  | { call: ToolCall; say?: string; tokens?: number }
  | { say: string; tokens?: number }
  | { hang: true };

/** turn: the agent's own work; summary: it compacts; aside: titles and the like. */
export type RequestKind = 'turn' | 'summary' | 'aside';

export interface RecordedRequest {
  /** Which script was playing, as passed to `play`. */
  run: string;
  kind: RequestKind;
  messages: readonly Message[];
}

const PROTOCOLS: readonly Protocol[] = [anthropic, responses, chat, gemini];
const DEFAULT_TOKENS = 1_200;

/** Says nothing of what happened: whatever the model knows of it after a compaction, it knows from a brief. */
const SUMMARY = `<summary>
SCRIPTED SUMMARY: the user asked for something, and something was done.
</summary>
<state_snapshot><overall_goal>SCRIPTED SUMMARY</overall_goal></state_snapshot>`;

/** How the instructions of the agents ask for a summary of the conversation. */
const ASKS_FOR_SUMMARY =
  /summary of (?:the|our|this) conversation|CONTEXT CHECKPOINT COMPACTION|<state_snapshot>|create a detailed summary|anchored summary|handoff summary|detailed prompt for continuing|summarize the conversation/i;

/**
 * A model on loopback that follows a script, whatever it is asked. Its position in the script is stored here and not read
 * from the request, which after a compaction no longer shows what was done.
 */
export class ScriptedModel {
  readonly requests: RecordedRequest[] = [];
  #steps: readonly Step[] = [];
  #next = 0;
  #run = 'none';
  readonly #held = new Set<ServerResponse>();
  readonly #waiting = new Set<() => void>();
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { type: 'api_error', message: String(error) } }));
    });
  });

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    const { port }: AddressInfo = JSON.parse(JSON.stringify(this.#server.address()));
    return `http://127.0.0.1:${port}`;
  }

  /** From now on, turns follow these steps; after the last one the model only says that it is done. */
  play(run: string, steps: readonly Step[]): void {
    this.#run = run;
    this.#steps = steps;
    this.#next = 0;
  }

  turnsOf(run: string): RecordedRequest[] {
    return this.requests.filter((request) => request.run === run && request.kind === 'turn');
  }

  /** Resolves when the model has been asked something that it will not answer. */
  async untilHanging(): Promise<void> {
    await this.#until(() => this.#held.size > 0);
  }

  /** A turn of a run, counted from one, when it comes. */
  async untilTurn(run: string, count = 1): Promise<RecordedRequest> {
    await this.#until(() => this.turnsOf(run).length >= count);
    const turn = this.turnsOf(run)[count - 1];
    if (turn === undefined) throw new Error(`no turn ${count} of ${run}`);
    return turn;
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  async stop(): Promise<void> {
    for (const response of this.#held) response.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const body = await readBody(request);
    const protocol = request.method === 'POST' ? PROTOCOLS.find((each) => each.accepts(path)) : undefined;
    if (protocol === undefined) return answerAside(path, body, response);
    const question = protocol.read(body);
    const kind = judge(question);
    this.requests.push({ run: this.#run, kind, messages: question.messages });
    const reply = this.#decide(question, kind);
    if (reply === null) this.#hold(response);
    else send(response, protocol.answer(reply, body, path));
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #hold(response: ServerResponse): void {
    this.#held.add(response);
    response.on('close', () => this.#held.delete(response));
  }

  /** Null when there is to be no answer. */
  #decide(question: Question, kind: RequestKind): Reply | null {
    if (question.schema !== null)
      return { text: JSON.stringify(fillSchema(new Json(question.schema))), tokens: DEFAULT_TOKENS };
    if (kind !== 'turn') return { text: kind === 'summary' ? SUMMARY : 'Scripted title', tokens: DEFAULT_TOKENS };
    const step = this.#steps[this.#next] ?? { say: 'All done.' };
    this.#next += 1;
    if ('hang' in step) return null;
    const tokens = step.tokens ?? DEFAULT_TOKENS;
    return 'call' in step ? { text: step.say ?? 'Going on.', call: step.call, tokens } : { text: step.say, tokens };
  }
}

function judge({ messages, hasTools, schema }: Question): RequestKind {
  if (schema !== null) return 'aside';
  const asked = messages.findLast(({ role }) => role === 'user')?.text ?? '';
  const system = messages.find(({ role }) => role === 'system')?.text ?? '';
  if (ASKS_FOR_SUMMARY.test(asked) || (!hasTools && ASKS_FOR_SUMMARY.test(system))) return 'summary';
  return hasTools ? 'turn' : 'aside';
}

async function readBody(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const raw = Buffer.concat(chunks);
  const encoding = request.headers['content-encoding'];
  const bytes = encoding === 'gzip' ? zlib.gunzipSync(raw) : encoding === 'br' ? zlib.brotliDecompressSync(raw) : raw;
  try {
    return new Json(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return new Json(null);
  }
}

function send(response: ServerResponse, answer: Answer): void {
  if ('document' in answer) sendDocument(response, answer.document);
  else sendEvents(response, answer.events);
}

function sendEvents(response: ServerResponse, events: Events): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [name, data] of events) {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    response.write(`${name === null ? '' : `event: ${name}\n`}data: ${text}\n\n`);
  }
  response.end();
}

function sendDocument(response: ServerResponse, document: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(document));
}

/** Counting of tokens and lists of models, as the agents ask for them before or beside their work. */
function answerAside(path: string, body: Json, response: ServerResponse): void {
  const tokens = Math.ceil(JSON.stringify(body.value).length / 4);
  const model = { id: 'scripted', object: 'model', type: 'model', display_name: 'Scripted' };
  if (/\/count_tokens$|:countTokens$/.test(path)) sendDocument(response, { input_tokens: tokens, totalTokens: tokens });
  else if (path.endsWith('/models')) sendDocument(response, { object: 'list', data: [model], models: [] });
  else sendDocument(response, { error: { type: 'not_found_error', message: `nothing at ${path}` } }, 404);
}
