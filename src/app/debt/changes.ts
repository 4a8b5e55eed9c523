import type { Action, Event } from '../../model/event.ts';
import { baseName } from '../../model/paths.ts';
import { findLook, findWrites } from './classify-command.ts';

/** Reasons to look at something again, each with the number of the call that gave it. */
export class Changes {
  /** By path, and by base name where a command named it. */
  readonly #edited = new Map<string, number>();
  #lastEdit = 0;
  /** What may have changed files that nobody named. */
  #lastSweep = 0;
  /** Anything done but looking, or said by the user. */
  #lastAct = 0;
  #branch: string | null = null;
  readonly #prompts: { call: number; text: string }[] = [];

  /** To be called for each event, with the number of calls made so far. */
  addEvent(event: Event, calls: number): void {
    const { branch, sidechain = false } = event;
    if (event.type === 'prompt') {
      this.#prompts.push({ call: calls, text: event.text });
      this.#lastAct = calls + 1;
    }
    if (branch === undefined || sidechain) return;
    if (this.#branch !== null && branch !== this.#branch) this.#lastSweep = calls + 1;
    this.#branch = branch;
  }

  /** A call that was made; one that failed may have changed something only if it is a command. */
  addCall(action: Action, call: number, failed: boolean): void {
    const isLook = action.kind === 'command' ? findLook(action.command) !== null : LOOKING.has(action.kind);
    if (!isLook) this.#lastAct = call;
    if (action.kind === 'edit' && !failed) {
      for (const { path, to = path } of action.edits) this.#edited.set(path, call).set(to, call);
      this.#lastEdit = call;
    } else if (action.kind === 'command') {
      const writes = findWrites(action.command);
      if (writes === 'all') this.#lastSweep = call;
      else for (const name of writes) this.#edited.set(name, call);
      if (writes.length > 0) this.#lastEdit = call;
    }
  }

  wasEdited(path: string, since: number): boolean {
    return [path, baseName(path)].some((name) => (this.#edited.get(name) ?? 0) > since);
  }

  /** Whether what a call showed is still so, and nothing happened since that is a reason to look again. */
  stands(action: Action, { call, isOfSession }: { call: number; isOfSession: boolean }): boolean {
    const look = action.kind === 'command' ? findLook(action.command) : 'files';
    if (look === 'tool') return true;
    if (look === 'git') return isOfSession && this.#lastAct <= call;
    if (this.#lastSweep > call) return false;
    if (action.kind === 'read')
      return !this.wasEdited(action.path, call) && !this.#isAsked(baseName(action.path), call);
    return this.#lastEdit <= call && (action.kind !== 'command' || !this.#isAsked(action.command, call));
  }

  #isAsked(name: string, since: number): boolean {
    return this.#prompts.some(({ call, text }) => call >= since && text.includes(name));
  }
}

const LOOKING: ReadonlySet<Action['kind']> = new Set(['read', 'search']);
