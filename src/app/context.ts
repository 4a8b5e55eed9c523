import { countNouns } from '../model/text.ts';
import type { Env, Machine } from '../platform/machine.ts';
import type { Catalog, UnreadableFile } from '../store/catalog.ts';
import { openStore, type Store } from '../store/store.ts';
import type { Notice } from './notices.ts';

export interface Context {
  machine: Machine;
  /** Shows the user a notice besides the result. */
  notify(notice: Notice): void;
  /** Shows how far long work has come; undefined where nobody watches. */
  progress(label: string): Progress | undefined;
}

export type Progress = (done: number, total?: number) => void;

export function findStore({ machine }: Pick<Context, 'machine'>): Store {
  return openStore(machine);
}

/** Opens the catalog for `work` and closes it afterwards. Reports an unusable index and files that cannot be read. */
export async function withCatalog<T>(
  context: Context,
  store: Store,
  work: (catalog: Catalog) => T | Promise<T>,
): Promise<T> {
  const { openCatalog } = await import('../store/open-catalog.ts');
  const { catalog, indexFailure } = await openCatalog(store, context.progress('indexing'));
  if (indexFailure !== null)
    context.notify({ level: 'note', text: `the index is not usable right now (${indexFailure.message})` });
  try {
    const result = await work(catalog);
    for (const text of describeUnreadable(await catalog.unreadable())) context.notify({ level: 'note', text });
    return result;
  } finally {
    catalog.close();
  }
}

function describeUnreadable(files: readonly UnreadableFile[]): string[] {
  const newer = files.filter(({ isNewer }) => isNewer).length;
  const damaged = files.length - newer;
  const handovers = countNouns(newer, 'handover');
  return [
    ...(damaged > 0 ? [`skipped ${countNouns(damaged, 'damaged file')}; see: handover doctor`] : []),
    ...(newer > 0 ? [`skipped ${handovers} written by a newer version; update agent-handover to read them`] : []),
  ];
}

/** What a user typed, with secrets redacted: it is shown, and passed to the next session. */
export async function redactInput({ machine }: Pick<Context, 'machine'>, text: string): Promise<string> {
  const { openRedactor } = await import('../redact/open-redactor.ts');
  return openRedactor(machine, { folder: machine.cwd, makesKey: false }).redactText(text, { byHuman: true });
}

/** Variables in which agents pass the id of the current session to the programs they start. */
const SESSION_VARIABLES = [
  'CLAUDE_CODE_SESSION_ID',
  'CODEX_THREAD_ID',
  'GEMINI_SESSION_ID',
  'QWEN_CODE_SESSION_ID',
  'COPILOT_AGENT_SESSION_ID',
];

/** The sessions this process runs in. They are still open and must not resume from themselves. */
export function listRunningSessions(env: Env): Set<string> {
  return new Set(SESSION_VARIABLES.map((name) => env[name]).filter((id) => id !== undefined));
}

/** Variables that agents set for the programs they start. */
const AGENT_VARIABLES: readonly (readonly [variable: string, agent: string])[] = [
  ['CLAUDECODE', 'claude-code'],
  ['CODEX_SANDBOX', 'codex'],
  ['CODEX_THREAD_ID', 'codex'],
  ['GEMINI_CLI', 'gemini'],
  ['QWEN_CODE', 'qwen'],
  ['OPENCODE', 'opencode'],
  ['COPILOT_CLI', 'copilot'],
  ['CLINE_ACTIVE', 'cline'],
];

/** The agent that started this process; null for a person at a terminal. */
export function detectAgent(env: Env): string | null {
  return AGENT_VARIABLES.find(([variable]) => env[variable])?.[1] ?? null;
}
