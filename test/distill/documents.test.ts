import { describe, expect, it } from 'vitest';
import {
  CWD,
  distillSession,
  done,
  edit,
  refused,
  run,
  type Step,
  user,
  withRole,
} from '../support/scripted-session.ts';

const first = user('Write down how the upload tries again');
const PAGE = `# How it tries again\n\n${'The upload waits, and then it tries again until it is done. '.repeat(8)}`;

function documentsOf(...steps: Step[]): [unknown, string][] {
  return withRole(distillSession(first, ...steps), 'document').map(({ text, detail }) => [detail?.path, text]);
}

const written = edit('docs/retry.md', PAGE, { change: 'created' });

describe('a document that was written', () => {
  it('is kept as its outline, with its path', () => {
    expect(documentsOf(written)).toEqual([
      ['docs/retry.md', expect.stringMatching(/^\*\*How it tries again:\*\*\nThe upload waits/)],
    ]);
  });

  it('is kept as it stands after later edits', () => {
    const [, text = ''] =
      documentsOf(written, edit('docs/retry.md', 'How often it tries', { before: 'How it tries again' }))[0] ?? [];
    expect(text).toMatch(/^\*\*How often it tries:\*\*/);
    const page = PAGE.replaceAll('upload', 'download');
    expect(documentsOf(written, edit('docs/retry.md', page, { before: PAGE }))).toEqual([
      ['docs/retry.md', expect.stringMatching(/^\*\*How it tries again:\*\*\nThe download waits/)],
    ]);
  });

  it('is kept as it was written anew, also where the edits before that could not be followed', () => {
    const anew = `${PAGE.slice(0, 300)}\n\n## Simpler\n\n${'It tries once more and gives up. '.repeat(12)}`;
    const unseen = edit('docs/retry.md', 'b', { before: 'a line that nobody saw' });
    const original = `${PAGE}\n\n${'A line that nobody saw was here. '.repeat(4)}`;
    const [, text = ''] = documentsOf(written, edit('docs/retry.md', anew, { before: original }))[0] ?? [];
    expect(text).toContain('**Simpler:**\nIt tries once more');
    expect(documentsOf(written, unseen)).toEqual([]);
  });

  it('follows an edit that replaces a word everywhere', () => {
    const [, text = ''] = documentsOf(written, edit('docs/retry.md', 'download', { before: 'upload' }))[0] ?? [];
    expect(text).toContain('The download waits');
    expect(text).not.toContain('upload');
  });

  it('is gone when it was removed', () => {
    expect(documentsOf(written, run('rm docs/retry.md'))).toEqual([]);
    expect(documentsOf(written, edit('docs/retry.md', '', { change: 'deleted', before: PAGE }))).toEqual([]);
  });

  it('is no document where it is short, code, or outside of the project', () => {
    expect(documentsOf(edit('docs/retry.md', 'It tries again.', { change: 'created' }))).toEqual([]);
    expect(documentsOf(edit('src/retry.ts', PAGE, { change: 'created' }))).toEqual([]);
    expect(documentsOf(edit('/home/ann/.notes/retry.md', PAGE, { change: 'created' }))).toEqual([]);
  });

  it('is no document where it could not be written', () => {
    const edits = [{ path: `${CWD}/docs/retry.md`, change: 'created', before: '', after: PAGE } as const];
    expect(documentsOf(done({ kind: 'edit', edits }, 'denied', false))).toEqual([]);
    expect(documentsOf(refused({ kind: 'edit', edits }))).toEqual([]);
  });

  it('is no document where only a part of it was seen', () => {
    expect(documentsOf(edit('docs/retry.md', PAGE, { before: 'The old part.' }))).toEqual([]);
  });

  it('is one of the four newest', () => {
    const many = Array.from({ length: 6 }, (_, at) => edit(`docs/page${at}.md`, PAGE, { change: 'created' }));
    expect(documentsOf(...many).map(([path]) => path)).toEqual([2, 3, 4, 5].map((at) => `docs/page${at}.md`));
  });
});
