export const terminalFlag = {
  kind: 'parsed',
  parse: (input: string): string => input,
  optional: true,
  brief: 'Only of sessions in this terminal',
  placeholder: 'id',
} as const;

/** Ids that were taken from a variable carry a mark that nobody types. */
export function isOfTerminal({ terminal }: { terminal: string | null }, words: string): boolean {
  return terminal === words || terminal === `env_${words}`;
}
