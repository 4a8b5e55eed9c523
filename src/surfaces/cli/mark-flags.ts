/** How a fact is marked. */
export interface MarkFlags {
  in?: string;
  because?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const factPositional = {
  kind: 'tuple',
  parameters: [
    { parse: text, brief: 'The id of a fact, the beginning of one, or its words', placeholder: 'fact' },
  ],
} as const;

export const becauseFlag = {
  kind: 'parsed',
  parse: text,
  optional: true,
  brief: 'Why',
  placeholder: 'text',
} as const;

export const markFlags = {
  in: {
    kind: 'parsed',
    parse: text,
    optional: true,
    brief: 'The handover that has it; the newest of this project if left out',
    placeholder: 'id',
  },
  because: becauseFlag,
  json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
} as const;
