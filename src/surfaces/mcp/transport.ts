import type { Readable, Writable } from 'node:stream';
import { deserializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server';

/** Longer lines are not held in memory. The limits of the tools are far lower. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;
/** How much is kept of the start and the end of a line that is too long, to find the id of the request. */
const KEPT_BYTES = 1024;
/** How long to wait for open answers after the input has ended; cancelled requests never get one. */
const ANSWER_MS = 5000;
const LINE_FEED = 0x0a;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** One message a line; others get an error. Closes when the input ended and all is answered, or when nobody reads. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #input: Readable;
  readonly #output: Writable;
  #pending: Buffer[] = [];
  #bytes = 0;
  /** The end of a line that is too long to be held. */
  #tail: Buffer | null = null;
  #isClosed = false;
  #hasEnded = false;
  readonly #unanswered = new Set<string | number>();

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#input.on('end', () => this.#end());
    this.#input.on('close', () => this.#end());
    for (const stream of [this.#input, this.#output]) stream.on('error', (error) => this.#fail(error));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message);
    if (!('method' in message)) this.#settle(message.id);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.pause();
    this.#input.removeAllListeners('data');
    this.#input.destroy();
    this.onclose?.();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#unanswered.size === 0) void this.close();
    else setTimeout(() => void this.close(), ANSWER_MS).unref();
  }

  #settle(id: string | number | undefined): void {
    if (id !== undefined) this.#unanswered.delete(id);
    if (this.#hasEnded && this.#unanswered.size === 0) void this.close();
  }

  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.onerror?.(error);
    void this.close();
  }

  #write(message: object): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      // When the reader is gone, the stream emits an error.
      this.#output.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  }

  #take(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#tail !== null) {
      this.#tail = Buffer.concat([this.#tail, part]).subarray(-KEPT_BYTES);
    } else if (this.#bytes > MAX_LINE_BYTES) {
      const whole = Buffer.concat([...this.#pending, part]);
      this.#pending = [Buffer.from(whole.subarray(0, KEPT_BYTES))];
      this.#tail = Buffer.from(whole.subarray(-KEPT_BYTES));
    } else if (part.length > 0) this.#pending.push(part);
  }

  #endLine(): void {
    const tail = this.#tail;
    const bytes = this.#bytes;
    const line = Buffer.concat(this.#pending).toString('utf8');
    this.#pending = [];
    this.#bytes = 0;
    this.#tail = null;
    if (tail === null) this.#deliver(line);
    else {
      const id = findId(line.slice(0, KEPT_BYTES)) ?? findId(tail.toString('utf8'));
      this.#refuse(id, INVALID_REQUEST, `the message has ${bytes} bytes; at most ${MAX_LINE_BYTES} are read`);
    }
  }

  #deliver(line: string): void {
    if (line.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      if (error instanceof SyntaxError) this.#refuse(null, PARSE_ERROR, 'this line is not JSON');
      else this.#refuse(idOf(line), INVALID_REQUEST, 'this is not a JSON-RPC 2.0 message');
      return;
    }
    if ('method' in message && 'id' in message) this.#unanswered.add(message.id);
    this.onmessage?.(message);
  }

  #refuse(id: string | number | null, code: number, message: string): void {
    void this.#write({ jsonrpc: '2.0', id, error: { code, message } });
  }
}

function idOf(line: string): string | number | null {
  const value: unknown = JSON.parse(line);
  if (typeof value !== 'object' || value === null || !('id' in value)) return null;
  return typeof value.id === 'string' || typeof value.id === 'number' ? value.id : null;
}

/** The id of a request from a part of it: a client that got no answer would wait. */
function findId(part: string): number | string | null {
  const [, number, text] = /"id"\s*:\s*(?:(\d{1,15})|"([\w-]{1,100})")\s*[,}]/.exec(part) ?? [];
  return number === undefined ? (text ?? null) : Number(number);
}
