/** What a line of a chat history is. Aider ends all lines but the model's with two spaces. */
export type HistoryLine =
  | { kind: 'start'; id: string; startedMs: number | null }
  | { kind: 'human' | 'note' | 'model'; text: string };

const START = /^# aider chat started at (\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\s*$/;
const LINE_BREAK = '  ';

export function readHistoryLine(line: string): HistoryLine {
  const start = START.exec(line);
  if (start !== null) return readStart(start.slice(1));
  if (line.endsWith(LINE_BREAK)) {
    if (line.startsWith('#### ')) return { kind: 'human', text: line.slice(5).trimEnd() };
    if (line.startsWith('> ')) return { kind: 'note', text: line.slice(2).trim() };
  }
  return { kind: 'model', text: line };
}

/** The time is that of the clock on the wall where aider ran, taken to be here. */
function readStart(digits: string[]): HistoryLine {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = digits.map(Number);
  const ms = new Date(year, month - 1, day, hour, minute, second).getTime();
  return {
    kind: 'start',
    id: `${digits.slice(0, 3).join('')}-${digits.slice(3).join('')}`,
    startedMs: Number.isNaN(ms) ? null : ms,
  };
}
