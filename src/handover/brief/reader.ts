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
