import { describe, expect, it } from 'vitest';
import { distillEvents } from '../../src/distill/distill.ts';
import type { Fact } from '../../src/model/fact.ts';
import {
  agent,
  distillSession,
  ofKind,
  plan,
  run,
  type Step,
  scriptSession,
  user,
} from '../support/scripted-session.ts';

function referencesOf(about: string, ...steps: Step[]): string[] {
  return ofKind(distillSession(...steps), 'reference')
    .filter((fact) => fact.detail?.about === about)
    .map((fact) => fact.text);
}

describe('the branch as a reference', () => {
  const onBranch = (branch: string): Fact[] =>
    ofKind(
      distillEvents(scriptSession(user('Fix the upload of the shop')).map((event) => ({ ...event, branch }))).facts,
      'reference',
    );

  it('is named unless it is a default branch', () => {
    expect(onBranch('fix/upload-retry').map((fact) => [fact.text, fact.origin])).toEqual([
      ['branch fix/upload-retry', 'git'],
    ]);
    expect(onBranch('HEAD')).toEqual([]);
    expect(onBranch('main')).toEqual([]);
  });
});

describe('links to changes and issues', () => {
  it('are taken from any speaker, once each', () => {
    const facts = distillSession(
      user('See https://github.com/acme/shop/issues/7, it is what fails.'),
      run('gh pr create', 'https://github.com/acme/shop/pull/12\n'),
      agent(
        'The change is https://github.com/acme/shop/pull/12 (open), see <https://gitlab.com/a/b/-/merge_requests/3>.',
      ),
    );
    const links = ofKind(facts, 'reference').filter((fact) => fact.detail?.about === 'link');
    expect(new Set(links.map((fact) => fact.text))).toEqual(
      new Set([
        'https://github.com/acme/shop/issues/7',
        'https://github.com/acme/shop/pull/12',
        'https://gitlab.com/a/b/-/merge_requests/3',
      ]),
    );
  });

  it('are not those of others, which a long output names', () => {
    const listed = Array.from({ length: 9 }, (_, at) => `#${at} https://github.com/acme/shop/pull/${at}`).join('\n');
    expect(referencesOf('link', user('What is open in the shop?'), run('gh pr list', listed))).toEqual([]);
  });

  it('are not arbitrary URLs', () => {
    expect(referencesOf('link', user('Read https://example.com/docs/retry first, please'))).toEqual([]);
  });
});

describe('tasks as facts', () => {
  it('keep their number, status and description', () => {
    const tasks = ofKind(
      distillSession(
        plan(
          { text: 'Add the retry', status: 'completed', id: '1' },
          { text: 'Test the retry', status: 'in_progress', id: '2', detail: 'with a slow server' },
          { text: 'Release it', status: 'pending' },
          { text: 'Rewrite it all', status: 'cancelled' },
        ),
      ),
      'task',
    );
    expect(tasks.map(({ text, status, detail }) => [text, status, detail?.number, detail?.more])).toEqual([
      ['Add the retry', 'completed', '1', undefined],
      ['Test the retry', 'in_progress', '2', 'with a slow server'],
      ['Release it', 'pending', undefined, undefined],
      ['Rewrite it all', 'cancelled', undefined, undefined],
    ]);
  });

  it('have their last status', () => {
    const tasks = ofKind(
      distillSession(
        plan({ text: 'Add the retry', status: 'pending' }),
        plan({ text: 'Add the retry', status: 'completed' }),
      ),
      'task',
    );
    expect(tasks.map(({ status }) => status)).toEqual(['completed']);
  });
});
