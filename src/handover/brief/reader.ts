export interface Reader {
  agent: string;
  name: string;
  /** Characters that the agent takes whole; it cuts or spills what is longer. Null where no cap was seen. */
  maxCharacters: number | null;
  /** The file with standing instructions, which rank above a brief. */
  instructions: string;
  /** How the data is closed in: agents trained on tags get a tag, the others a fenced line. */
  fence: 'tag' | 'line';
}

const READERS = {
  'claude-code': reader('Claude Code', {
    maxCharacters: 10_000,
    instructions: 'CLAUDE.md',
    fence: 'tag',
  }),
  codex: reader('Codex', { maxCharacters: 9_900, instructions: 'AGENTS.md' }),
  gemini: reader('Gemini CLI', { instructions: 'GEMINI.md' }),
  opencode: reader('OpenCode', { instructions: 'AGENTS.md' }),
  qwen: reader('Qwen Code', { instructions: 'QWEN.md' }),
  copilot: reader('Copilot CLI', { instructions: 'AGENTS.md' }),
  cline: reader('Cline', {
    maxCharacters: 50_000,
    instructions: '.clinerules',
    fence: 'tag',
  }),
  goose: reader('Goose', { instructions: '.goosehints' }),
  pi: reader('Pi', { instructions: 'AGENTS.md' }),
  aider: reader('Aider', { instructions: 'CONVENTIONS.md' }),
  generic: reader('any agent', { instructions: 'project instructions' }),
} as const satisfies Record<string, Omit<Reader, 'agent'>>;

type ReaderTraits = Partial<Omit<Reader, 'agent' | 'name'>> & Pick<Reader, 'instructions'>;

function reader(name: string, traits: ReaderTraits): Omit<Reader, 'agent'> {
  return { name, maxCharacters: null, fence: 'line', ...traits };
}

export type ReaderName = keyof typeof READERS;
export const READER_NAMES: readonly string[] = Object.keys(READERS);

const ALIASES: ReadonlyMap<string, ReaderName> = new Map([
  ['claude', 'claude-code'],
  ['codex-cli', 'codex'],
  ['gemini-cli', 'gemini'],
  ['qwen-code', 'qwen'],
  ['copilot-cli', 'copilot'],
  ['github-copilot', 'copilot'],
]);

/** The name of the agent that people also call so; any other text as it is. */
export function nameAgent(words: string): string {
  return ALIASES.get(words.trim().toLowerCase()) ?? words;
}

/** Null for an agent that is not known. */
export function findReader(words: string): Reader | null {
  const agent = nameAgent(words).trim().toLowerCase();
  return isReaderName(agent) ? { agent, ...READERS[agent] } : null;
}

function isReaderName(text: string): text is ReaderName {
  return Object.hasOwn(READERS, text);
}
