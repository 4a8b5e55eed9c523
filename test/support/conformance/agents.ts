import { describe, expect, it } from 'vitest';
import { type Agent, type FoundSession, startReadStats } from '../../../src/agents/agent.ts';
import { findAgentSessions } from '../../../src/agents/table.ts';
import type { Action, Event, PlanItem } from '../../../src/model/event.ts';
import type { Machine } from '../../../src/platform/machine.ts';

/** The folder that the story plays in. Paths in events are absolute. */
export const STORY_CWD = '/home/ann/shop';

/** What is left of an event when all that differs from agent to agent is taken away. */
export type Told =
  | { type: 'prompt' | 'reply'; text: string }
  | { type: 'call'; action: Action }
  | { type: 'result'; ok: boolean | null; exit: number | null; output: string }
  | { type: 'plan'; items: PlanItem[] }
  | { type: 'compaction' | 'injected' | 'limit' | 'interrupted' | 'thought' };

const first = 'Add a retry to the upload';
const second = 'Test the retry';

/** One session, to be written in the format of each agent: every agent's reader must give these events, in this order. */
export const STORY: readonly Told[] = [
  { type: 'prompt', text: 'Make the upload retry when the server is busy' },
  { type: 'reply', text: 'I will look at the upload client first.' },
  { type: 'call', action: { kind: 'read', path: `${STORY_CWD}/src/upload.ts` } },
  { type: 'result', ok: true, exit: null, output: 'export function upload() {\n  return send();\n}\n' },
  {
    type: 'plan',
    items: [
      { text: first, status: 'in_progress' },
      { text: second, status: 'pending' },
    ],
  },
  {
    type: 'call',
    action: {
      kind: 'edit',
      edits: [
        {
          path: `${STORY_CWD}/src/upload.ts`,
          change: 'edited',
          before: '  return send();',
          after: '  return retry(send, 5);',
        },
      ],
    },
  },
  { type: 'result', ok: true, exit: null, output: 'edited' },
  { type: 'call', action: { kind: 'command', command: 'npm test', background: false } },
  { type: 'result', ok: false, exit: 1, output: 'FAIL upload.test.ts\nTypeError: retry is not a function' },
  {
    type: 'reply',
    text: 'The function does not exist yet, so I add it. We use exponential backoff instead of a queue.',
  },
  {
    type: 'call',
    action: {
      kind: 'edit',
      edits: [
        {
          path: `${STORY_CWD}/src/retry.ts`,
          change: 'created',
          before: '',
          after: 'export function retry(work, times) {\n  return work();\n}\n',
        },
      ],
    },
  },
  { type: 'result', ok: true, exit: null, output: 'created' },
  { type: 'call', action: { kind: 'command', command: 'npm test', background: false } },
  { type: 'result', ok: true, exit: 0, output: '2 passed' },
  {
    type: 'plan',
    items: [
      { text: first, status: 'completed' },
      { text: second, status: 'in_progress' },
    ],
  },
  { type: 'prompt', text: 'Never retry on 404, and keep the delay below 2000 ms' },
  { type: 'reply', text: 'Understood: no retry on 404, delay below 2000 ms.' },
];

export interface AgentCase {
  agent: Agent;
  /**
   * Lays the story out on disk as the agent would, in a machine of its own, and says where. `cwd` is where the story
   * plays when it cannot be told to play in STORY_CWD, because the agent has its transcript in the project.
   */
  layOut(): { machine: Machine; path: string; id: string; cwd?: string };
  /** What this agent's format cannot say, and how the story reads without it. */
  tell?(story: readonly Told[], cwd: string): Told[];
}

/** Results are compared where all agents agree: success, exit status and, for reads and commands, the output's gist. */
function simplify(event: Event): Told {
  switch (event.type) {
    case 'prompt':
    case 'reply':
      return { type: event.type, text: event.text.trim() };
    case 'call':
      return { type: 'call', action: event.action };
    case 'result':
      return { type: 'result', ok: event.ok, exit: event.exit, output: event.output };
    case 'plan':
      return { type: 'plan', items: event.items };
    default:
      return { type: event.type };
  }
}

/** An expected result matches when its facts do and the expected output stands in the agent's own wording of it. */
function expectTold(told: Told, expected: Told, at: string): void {
  if (told.type !== 'result' || expected.type !== 'result') {
    expect(told, at).toEqual(expected);
    return;
  }
  expect(told.ok, at).toBe(expected.ok);
  if (expected.exit !== null && told.exit !== null) expect(told.exit, at).toBe(expected.exit);
  const free = expected.output === 'edited' || expected.output === 'created';
  if (!free) expect(told.output, at).toContain(expected.output.trimEnd());
}

export function testAgent({ agent, layOut, tell = (story) => [...story] }: AgentCase): void {
  describe(`the reader of ${agent.name}`, () => {
    const find = (): { session: FoundSession; path: string; cwd: string } => {
      const { machine, path, id, cwd = STORY_CWD } = layOut();
      const sessions = [...agent.findSessions(machine)];
      expect([...findAgentSessions(agent.name, machine)]).toEqual([...agent.findSessions(machine)]);
      const session = sessions.find((candidate) => candidate.id === id);
      if (session === undefined) throw new Error(`not found among ${JSON.stringify(sessions)}`);
      return { session, path, cwd };
    };

    it('finds the session and its project folder', () => {
      const { session, path, cwd } = find();
      expect(session).toMatchObject({ agent: agent.name, path, cwd, parent: null });
      expect(session.bytes).toBeGreaterThan(0);
    });

    it('recognises its own file', () => {
      const { session, path } = find();
      expect(agent.inspectFile(path)).toMatchObject({ agent: agent.name, path, id: session.id });
    });

    it('gives the events of the sample session', () => {
      const { session, cwd } = find();
      const reading = startReadStats();
      const told = [...agent.readEvents(session, reading)].filter(({ type }) => type !== 'thought').map(simplify);
      const expected = tell(STORY, cwd);
      expect(told.map((event) => event.type)).toEqual(expected.map((event) => event.type));
      for (const [index, event] of told.entries()) {
        expectTold(event, expected[index] ?? event, `event ${index}`);
      }
      expect(reading).toMatchObject({ unreadable: 0, unknown: {} });
      expect(reading.rows).toBeGreaterThan(0);
    });

    it('gives the same events when read again', () => {
      const { session } = find();
      const read = (): Event[] => [...agent.readEvents(session, startReadStats())];
      expect(read()).toEqual(read());
    });

    it('finds nothing on an empty machine', () => {
      const { machine } = layOut();
      const nowhere = `${machine.home}-nobody`;
      const empty = { ...machine, home: nowhere, cwd: nowhere, env: { PATH: machine.env.PATH } };
      expect([...agent.findSessions(empty)]).toEqual([]);
      expect([...findAgentSessions(agent.name, empty)]).toEqual([]);
    });
  });
}
