import { redactWords } from './redact-words.ts';

/** How a brief is asked for. */
export interface BriefFlags {
  target: string;
  budget?: string;
  goal?: string;
}

const text = (input: string): string => input;

export const briefFlags = {
  target: {
    kind: 'parsed',
    parse: text,
    default: 'generic',
    brief: 'The agent that will read it',
    placeholder: 'agent',
  },
  budget: {
    kind: 'parsed',
    parse: text,
    optional: true,
    brief: 'Tokens at most (2000)',
    placeholder: 'tokens',
  },
  goal: {
    kind: 'parsed',
    parse: redactWords,
    optional: true,
    brief: 'What the next session is to do; steers the choice of facts',
    placeholder: 'text',
  },
} as const;
