import { distillEvents } from '../../src/distill/distill.ts';
import type { Action, Event, FileEdit, PlanItem } from '../../src/model/event.ts';
import type { Fact, FactKind } from '../../src/model/fact.ts';

/** The folder of scripted sessions. */
export const CWD = '/home/ann/shop';

type Bare = Event extends infer E ? (E extends Event ? Omit<E, 'at' | 'ref'> : never) : never;

/** Something that happens in a session, as the events that it leaves. Calls are named by their step. */
export type Step = (call: string) => Bare[];

/** A session, step by step, each event on a line of its own. */
export function scriptSession(...steps: readonly Step[]): Event[] {
  let line = 0;
  return steps.flatMap((step, index) =>
    step(`call-${index}`).map((bare): Event => ({ ...bare, at: null, ref: { line: ++line, id: null }, cwd: CWD })),
  );
}

export function distillSession(...steps: readonly Step[]): Fact[] {
  return distillEvents(scriptSession(...steps)).facts;
}

export function ofKind(facts: readonly Fact[], kind: FactKind): Fact[] {
  return facts.filter((fact) => fact.kind === kind);
}

export function withRole(facts: readonly Fact[], role: string): Fact[] {
  return facts.filter((fact) => fact.detail?.role === role);
}

/** Where a session stands, sentence by sentence. */
export function stateOf(...steps: readonly Step[]): string[] {
  return withRole(distillSession(...steps), 'state').flatMap((fact) => fact.text.split('\n'));
}

export function user(text: string): Step {
  return () => [{ type: 'prompt', text }];
}

/** What the user says while the agent works. */
export function steer(text: string): Step {
  return () => [{ type: 'prompt', text, steering: true }];
}

export function thought(text: string): Step {
  return () => [{ type: 'thought', text }];
}

/** A message of another agent, such as the lead of a team. */
export function other(from: string, text: string): Step {
  return () => [{ type: 'prompt', text, from }];
}

export function agent(text: string): Step {
  return () => [{ type: 'reply', text }];
}

export function plan(...items: readonly PlanItem[]): Step {
  return () => [{ type: 'plan', items: [...items] }];
}

export function compaction(summary: string): Step {
  return () => [{ type: 'compaction', summary }];
}

export function limit(text: string): Step {
  return () => [{ type: 'limit', text }];
}

export function interruption(): Step {
  return () => [{ type: 'interrupted' }];
}

/** A call that has not come back. */
export function open(action: Action, tool = 'tool'): Step {
  return (call) => [{ type: 'call', call, tool, action }];
}

/** A call that the user did not allow. */
export function refused(action: Action): Step {
  return (call) => [
    ...open(action)(call),
    { type: 'result', call, ok: false, exit: null, output: 'The user rejected it.', refused: true },
  ];
}

/** A command that goes on in the background, by the id that its first output gives. */
export function inBackground(command: string, id: string): Step {
  return (call) => [
    ...open({ kind: 'command', command, background: true })(call),
    { type: 'result', call, ok: true, exit: 0, output: `Command running in background with ID: ${id}` },
  ];
}

/** A call of a tool that no action describes. */
export function useTool(tool: string, input: string, output = ''): Step {
  return done({ kind: 'other', texts: [input] }, output, true, tool);
}

/** A call with its result. */
export function done(action: Action, output = '', ok = true, tool = 'tool'): Step {
  return (call) => [
    ...open(action, tool)(call),
    { type: 'result', call, ok, exit: action.kind === 'command' ? (ok ? 0 : 1) : null, output },
  ];
}

export function run(command: string, output = '', ok = true): Step {
  return done({ kind: 'command', command, background: false }, output, ok);
}

export function fail(command: string, output = ''): Step {
  return run(command, output, false);
}

export function read(path: string, content = ''): Step {
  return done({ kind: 'read', path: inCwd(path) }, content);
}

export function edit(path: string, after: string, more: Partial<FileEdit> = {}): Step {
  return done({
    kind: 'edit',
    edits: [{ path: inCwd(path), change: 'edited', before: '', after, ...more }],
  });
}

/** A question that a tool asks, with the answer of the user. */
export function answer(question: string, text: string): Step {
  return (call) => [...done(ask(question), text)(call), { type: 'prompt', text }];
}

export function ask(question: string): Action {
  return { kind: 'ask', question };
}

function inCwd(path: string): string {
  return /^(?:\/|[A-Za-z]:\\|~)/.test(path) ? path : `${CWD}/${path}`;
}
