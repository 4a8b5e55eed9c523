export const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001';

/**
 * The rows that Claude Code writes down of one turn, as text: `from` is the number of the first one.
 * @param {number} from
 * @param {[prompt: string, reply: string]} texts
 */
export function writeTurn(from, [prompt, reply]) {
  const rows = [
    { type: 'user', message: { role: 'user', content: prompt } },
    { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: reply }] } },
  ];
  return rows
    .map((row, index) => ({
      parentUuid: from + index === 0 ? null : `row-${from + index - 1}`,
      ...row,
      uuid: `row-${from + index}`,
      timestamp: `2026-01-31T09:00:0${from + index}.000Z`,
      isSidechain: false,
      cwd: '/nowhere/app',
      sessionId: SESSION,
    }))
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('');
}
