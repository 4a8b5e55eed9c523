/** A tool call that the scripted model makes. */
export interface ToolCall {
  name: string;
  /** The server that the tool belongs to, where a format names it apart. */
  namespace?: string;
  args: Readonly<Record<string, unknown>>;
}

export interface Reply {
  text: string;
  call?: ToolCall;
  /** Tokens that the request is said to have had: enough of them make an agent compact. */
  tokens: number;
}

export interface Message {
  /** system, developer, user, assistant, call (a tool call of the model) or tool (its result). */
  role: string;
  text: string;
}

/** A request of an agent, in whichever format it came. */
export interface Question {
  messages: readonly Message[];
  hasTools: boolean;
  /** A JSON schema that the answer has to follow, as in requests for a title; null where there is none. */
  schema: unknown;
}

/** Server-sent events: pairs of a name, or null, and the data. */
export type Events = readonly (readonly [string | null, unknown])[];

export type Answer = { document: unknown } | { events: Events };

/** One wire format of model servers. */
export interface Protocol {
  accepts(path: string): boolean;
  read(body: Json): Question;
  answer(reply: Reply, body: Json, path: string): Answer;
}

/** A JSON value that can be looked into without knowing its shape. */
export class Json {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  at(...keys: readonly string[]): Json {
    let value = this.value;
    for (const key of keys) value = isObject(value) ? value[key] : undefined;
    return new Json(value);
  }

  get items(): Json[] {
    return Array.isArray(this.value) ? this.value.map((each) => new Json(each)) : [];
  }

  /** A string itself; of anything else its texts, wherever they are in it. */
  get text(): string {
    if (typeof this.value === 'string') return this.value;
    if (Array.isArray(this.value)) return this.items.map((each) => each.text).join('\n');
    return isObject(this.value) ? (this.value.text === undefined ? this.at('content') : this.at('text')).text : '';
  }

  get exists(): boolean {
    return this.value !== undefined && this.value !== null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

let made = 0;

/** Ids need only differ within one server. */
export function makeId(kind: string): string {
  made += 1;
  return `${kind}_${String(made).padStart(6, '0')}`;
}
