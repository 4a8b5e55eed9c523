import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/model/fact.ts';
import { renderSession } from '../support/rendered.ts';
import {
  agent,
  compaction,
  distillSession,
  ofKind,
  run,
  type Step,
  scriptSession,
  user,
} from '../support/scripted-session.ts';

function mentionOf(name: string, ...steps: Step[]): Fact | undefined {
  return ofKind(distillSession(...steps), 'reference').find((fact) => fact.detail?.about === name);
}

const first = user('Fix the crash of the upload that #12 tells of');

describe('a name that was mentioned', () => {
  it('is shown with the newest sentence that contains it', () => {
    const steps = [
      first,
      agent('The crash of #12 comes from a lock in the reader. The rest is fine as it is.'),
      agent('For #12 the file is closed before the rename now.'),
      agent('Other things were said in here later on.'),
    ];
    expect(mentionOf('#12', ...steps)).toMatchObject({
      text: 'For #12 the file is closed before the rename now.',
      origin: 'agent',
      sources: [{ line: 3 }],
    });
  });

  it('is shown with a summary only when no message mentions it', () => {
    const summary = compaction('The error EADDRINUSE came from an old server that was still running.');
    expect(mentionOf('EADDRINUSE', first, summary)?.text).toContain('an old server');
    const said = agent('The port is free again, so EADDRINUSE is gone for good.');
    expect(mentionOf('EADDRINUSE', first, said, summary, run('ls'))?.text).toContain('gone for good');
  });

  it('is not matched by a longer name, small talk or code', () => {
    expect(
      mentionOf(
        '#12',
        user('Fix the crash of the upload as #12 says'),
        agent('The crash of #123 comes from a lock in the reader.'),
        agent('Let me look at #12 and what is said there.'),
        agent('```\nclose(#12) and open it again and again\n```'),
      )?.text,
    ).toBe('Fix the crash of the upload as #12 says');
  });

  it('is in the brief once, however many facts mention it', () => {
    const text = 'The crash of #12 comes from an ENOENT that the reader of the upload swallows.';
    const brief = renderSession(
      scriptSession(first, agent(text), run('npm test'), user('Go on with the retry, please'), agent('Done with it.')),
    ).text;
    expect(brief.split(text)).toHaveLength(2);
  });
});
