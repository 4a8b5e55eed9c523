import { describe, expect, it } from 'vitest';
import { renderSession } from '../../support/rendered.ts';
import { agent, plan, scriptSession, user } from '../../support/scripted-session.ts';

const STEPS = [
  { text: 'Add the retry to the upload', status: 'completed', id: '1' },
  { text: 'Rewrite the whole upload in Rust', status: 'cancelled', id: '2' },
  { text: 'Test the retry with a slow server', status: 'in_progress', id: '3' },
  { text: 'Release the new upload', status: 'pending', id: '4' },
] as const;

function tasksOf(budget: number): string[] {
  const events = scriptSession(
    user('Make the upload retry when the server is busy'),
    plan(...STEPS),
    agent('The retry waits for two seconds.'),
  );
  const { text } = renderSession(events, { budget });
  return (/## Tasks\n((?:>.*\n)+)/.exec(text)?.[1] ?? '').trimEnd().split('\n');
}

describe('tasks in a brief', () => {
  it('list the open ones with status and number, then those that are done', () => {
    expect(tasksOf(2000)).toEqual([
      '> [in_progress] #3 Test the retry with a slow server',
      '> [pending] #4 Release the new upload',
      '> [completed] #1 Add the retry to the upload',
    ]);
  });

  it('list only the open ones where the budget is small', () => {
    expect(tasksOf(300).slice(0, 2)).toEqual([
      '> [in_progress] #3 Test the retry with a slow server',
      '> [pending] #4 Release the new upload',
    ]);
  });
});
