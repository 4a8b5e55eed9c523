/** A call whose output has not come yet, with what other rows told about it meanwhile. */
export interface OpenCall {
  /** Where the output goes: `call` to this call, `origin` to the one it asks about, `human` is the human's answer. */
  output: 'call' | 'origin' | 'human' | 'nowhere';
  origin: string | null;
  edits: boolean;
  commands: readonly string[];
  exits: number[];
  ok: boolean | null;
}

export interface CallsState {
  open: Map<string, OpenCall>;
  /** Processes and scripts that were left running, by the name that they are asked for under. */
  running: Map<string, string>;
}

/** The calls of a session that still matter: few, however long the session is. */
export class OpenCalls {
  readonly #open: Map<string, OpenCall>;
  readonly #running: Map<string, string>;

  constructor({ open, running }: CallsState) {
    this.#open = open;
    this.#running = running;
  }

  open(id: string, call: Partial<OpenCall> = {}): void {
    this.#open.set(id, {
      output: 'call',
      origin: null,
      edits: false,
      commands: [],
      exits: [],
      ok: null,
      ...call,
    });
  }

  find(id: string): OpenCall | undefined {
    return this.#open.get(id);
  }

  /** The script that runs the given command inside itself. */
  findScript(command: string): OpenCall | undefined {
    for (const call of this.#open.values()) if (call.commands.includes(command)) return call;
    return undefined;
  }

  close(id: string): OpenCall | undefined {
    const call = this.#open.get(id);
    this.#open.delete(id);
    return call;
  }

  leaveRunning(name: string, id: string): void {
    this.#running.set(name, id);
  }

  findRunning(name: string): string | null {
    return this.#running.get(name) ?? null;
  }
}
