export interface Reader {
  agent: string;
  name: string;
  /** Characters that the agent takes whole; it cuts or spills what is longer. Null where no cap was seen. */
  maxCharacters: number | null;
  /** The file with standing instructions, which rank above a brief. */
  instructions: string;
  /** How the agent keeps a plan; null where nothing is known of it. */
  planning: string | null;
  /** How the data is closed in: agents trained on tags get a tag, the others a fenced line. */
  fence: 'tag' | 'line';
}

const READERS = {
  'claude-code': reader('Claude Code', {
    maxCharacters: 10_000,
    instructions: 'CLAUDE.md',
    planning: 'TodoWrite',
    fence: 'tag',
  }),
  codex: reader('Codex', { maxCharacters: 9_900, instructions: 'AGENTS.md', planning: 'update_plan' }),
  gemini: reader('Gemini CLI', { instructions: 'GEMINI.md', planning: 'write_todos' }),
  opencode: reader('OpenCode', { instructions: 'AGENTS.md', planning: 'todowrite' }),
  qwen: reader('Qwen Code', { instructions: 'QWEN.md', planning: 'todo_write' }),
  copilot: reader('Copilot CLI', { instructions: 'AGENTS.md', planning: 'update_todo' }),
  cline: reader('Cline', {
    maxCharacters: 50_000,
    instructions: '.clinerules',
    planning: 'its task list',
    fence: 'tag',
  }),
  goose: reader('Goose', { instructions: '.goosehints', planning: 'its todo list' }),
  pi: reader('Pi', { instructions: 'AGENTS.md', planning: 'its own plan' }),
  aider: reader('Aider', { instructions: 'CONVENTIONS.md', planning: 'its own plan' }),
  generic: reader('any agent', { instructions: 'project instructions', planning: null }),
} as const satisfies Record<string, Omit<Reader, 'agent'>>;

type ReaderTraits = Partial<Omit<Reader, 'agent' | 'name'>> & Pick<Reader, 'instructions' | 'planning'>;

function reader(name: string, traits: ReaderTraits): Omit<Reader, 'agent'> {
  return { name, maxCharacters: null, fence: 'line', ...traits };
}

export type ReaderName = keyof typeof READERS;
export const READER_NAMES: readonly string[] = Object.keys(READERS);

const ALIASES: ReadonlyMap<string, ReaderName> = new Map([
  ['claude', 'claude-code'],
  ['gemini-cli', 'gemini'],
  ['qwen-code', 'qwen'],
  ['copilot-cli', 'copilot'],
  ['github-copilot', 'copilot'],
]);

/** Null for an agent that is not known. */
export function findReader(words: string): Reader | null {
  const text = words.trim().toLowerCase();
  const agent = isReaderName(text) ? text : ALIASES.get(text);
  return agent === undefined ? null : { agent, ...READERS[agent] };
}

function isReaderName(text: string): text is ReaderName {
  return Object.hasOwn(READERS, text);
}
