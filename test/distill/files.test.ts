import { describe, expect, it } from 'vitest';
import { distillEvents } from '../../src/distill/distill.ts';
import type { Fact } from '../../src/model/fact.ts';
import { readSection, renderSession } from '../support/rendered.ts';
import {
  agent,
  CWD,
  distillSession,
  done,
  edit,
  fail,
  ofKind,
  open,
  read,
  run,
  type Step,
  scriptSession,
  stateOf,
  user,
} from '../support/scripted-session.ts';

function filesOf(...steps: Step[]): [string, string | undefined][] {
  return ofKind(distillSession(...steps), 'file').map(({ text, status }) => [text, status]);
}

function statusOf(path: string, ...steps: Step[]): string | undefined {
  return filesOf(...steps).find(([text]) => text === path)?.[1];
}

describe('a file that was moved', () => {
  it('is not called deleted, also where its folder is removed after that', () => {
    const steps = [
      user('Keep the notes about the upload where the others are'),
      edit('note/upload.md', '# Upload'),
      run('mkdir -p notes && mv note/upload.md notes/ && rmdir note'),
    ];
    const [line = '', ...others] = readSection(renderSession(scriptSession(...steps)).text, 'Files');
    expect([line, ...others].join(' ')).toContain('upload.md (moved to notes/upload.md; 1 edit)');
    expect([line, ...others].join(' ')).not.toContain('deleted');
  });
});

describe('files of a session', () => {
  it('are those that it committed, too, though no edit of them was seen', () => {
    const commit = run(
      'git add designs/cart.pen docs && git commit -m "Draw the cart"',
      '[main 1a2b3c4] Draw the cart\n 1 file changed, 44 insertions(+)',
    );
    const steps = [user('Draw the cart of the shop, please'), edit('src/shop.ts', 'openShop();'), commit];
    expect(filesOf(...steps)).toEqual([
      ['src/shop.ts', 'edited'],
      ['designs/cart.pen', 'committed'],
    ]);
    expect(renderSession(scriptSession(...steps)).text).toContain('cart.pen (committed)');
    const other = 'git add src/shop.ts && git commit -m "Open the shop"';
    expect(statusOf('src/shop.ts', ...steps, run(other, '[main 5a2b3c4] Open the shop'))).toBe('edited');
  });

  it('are only begun where a call to edit them has no result', () => {
    const change = { path: `${CWD}/src/cart.ts`, change: 'edited' as const, before: '', after: 'const cart = [];' };
    const pending = open({ kind: 'edit', edits: [change] }, 'Edit');
    const steps = [user('Rework the cart of the shop, please'), edit('src/shop.ts', 'openShop();'), pending];
    expect(filesOf(...steps)).toEqual([
      ['src/shop.ts', 'edited'],
      ['src/cart.ts', 'begun'],
    ]);
    expect(stateOf(...steps).join(' ')).not.toContain('cart.ts');
    expect(renderSession(scriptSession(...steps)).text).toContain('cart.ts (an edit begun, no result seen)');
    expect(ofKind(distillSession(edit('src/cart.ts', 'a'), pending), 'file')).toMatchObject([
      { status: 'edited', detail: { edits: 1, begun: 1 } },
    ]);
  });

  it('are listed with what was done to them, relative to the session’s folder', () => {
    expect(
      filesOf(
        edit('src/cart.ts', 'export const cart = [];', { change: 'created' }),
        edit('src/shop.ts', 'openShop();'),
        edit('src/old.ts', '', { change: 'deleted' }),
        edit('src/a.ts', '', { change: 'moved', to: `${CWD}/src/b.ts` }),
        read('src/config.ts', 'export const limit = 5;'),
        agent('The limits of the shop are in src/limits.ts, which I have not opened.'),
      ),
    ).toEqual([
      ['src/cart.ts', 'created'],
      ['src/shop.ts', 'edited'],
      ['src/old.ts', 'deleted'],
      ['src/a.ts', 'deleted'],
      ['src/b.ts', 'edited'],
      ['src/config.ts', 'read'],
      ['src/limits.ts', 'mentioned'],
    ]);
  });

  it('outside the project, and temporary ones, are left out unless changed', () => {
    const foreign = [
      'node_modules/left-pad/index.js',
      '/usr/lib/python3/site-packages/requests/api.py',
      'dist/main.js',
      'target/debug/build.rs',
      '/tmp/probe.ts',
      '/private/tmp/notes.md',
      'C:\\Users\\ann\\AppData\\Local\\Temp\\probe.ts',
      'C:\\shop\\node_modules\\left-pad\\index.js',
    ];
    expect(filesOf(...foreign.map((path) => read(path)))).toEqual([]);
    expect(filesOf(edit('/tmp/probe.ts', 'run();'))).toEqual([['/tmp/probe.ts', 'edited']]);
  });

  it('of a project among temporary files, or in a folder named like build outputs, are of the work', () => {
    for (const cwd of ['/tmp/shop', '/var/folders/ab/cd/T/shop', '/home/ann/build/shop']) {
      const steps = [
        read(`${cwd}/src/limits.ts`),
        run(`rm ${cwd}/src/gone.ts`),
        edit(`${cwd}/src/a.ts`, 'a();'),
        run('git add src/a.ts && git commit -m "Add a"', '[main 1a2b3c4] Add a\n 1 file changed'),
        edit(`${cwd}/src/b.ts`, 'b();'),
        read(`${cwd}/node_modules/left-pad/index.js`),
        read('/tmp/probe.ts'),
      ];
      const { facts } = distillEvents(scriptSession(user('Go on'), ...steps).map((event) => ({ ...event, cwd })));
      expect(ofKind(facts, 'file').map(({ text, status }) => [text, status])).toEqual([
        ['src/gone.ts', 'deleted'],
        ['src/a.ts', 'edited'],
        ['src/b.ts', 'edited'],
        ['src/limits.ts', 'read'],
      ]);
      const [state] = facts.filter(({ detail }) => detail?.role === 'state');
      expect(state?.text).toContain('Edited since the last commit: b.ts (1 edit).');
    }
  });

  it('are no examples, and no parts of names', () => {
    const said = 'Look at src/mail.ts, <id>/full.jsonl, path/to/file.txt and README.md.';
    const listed = filesOf(user(said), read('src/mail.ts'), agent(said)).map(([text]) => text);
    expect(listed).toEqual(expect.arrayContaining(['src/mail.ts', 'README.md']));
    expect(listed.filter((text) => /full\.jsonl|file\.txt/.test(text))).toEqual([]);
  });

  it('on Windows have full paths, the same from a command', () => {
    const cwd = 'C:\\shop';
    const events = scriptSession(
      edit('C:\\shop\\src\\cart.ts', 'addToCart();'),
      run('Get-Content src\\limits.ts', 'export const itemLimit = 5;'),
      run('cat src/limits.ts', 'export const itemLimit = 5;'),
    ).map((event) => ({ ...event, cwd }));
    const files = ofKind(distillEvents(events).facts, 'file').map(({ text, detail }) => [text, detail?.reads]);
    expect(files).toEqual([
      ['C:\\shop\\src\\cart.ts', 0],
      ['C:\\shop\\src\\limits.ts', 2],
    ]);
  });

  it('of one name are distinguished, each with the names that edits declared in it', () => {
    const facts = distillSession(
      edit('src/cart/index.ts', 'export function openCart() {}'),
      edit('src/user/index.ts', 'export function openUser() {}'),
      agent('Both `openCart` and `openUser` are there.'),
    );
    expect(ofKind(facts, 'file').map(({ text, detail }) => [text, detail?.declared])).toEqual([
      ['src/cart/index.ts', ['openCart']],
      ['src/user/index.ts', ['openUser']],
    ]);
  });

  it('have at most three declared names, those spoken of most often first', () => {
    const names = ['openCart', 'closeCart', 'emptyCart', 'countCart', 'printCart'];
    const facts = distillSession(
      edit('src/cart.ts', names.map((name) => `function ${name}() {}`).join('\n')),
      agent('There are openCart, closeCart, emptyCart and countCart.'),
      agent('Call countCart before emptyCart, and countCart after it.'),
    );
    expect(ofKind(facts, 'file')[0]?.detail?.declared).toEqual(['countCart', 'emptyCart', 'closeCart']);
  });

  it('have no declared names that nobody spoke of, or that were taken out again', () => {
    const facts = distillSession(
      edit('src/cart.ts', 'function openCart() {}\nfunction hideCart() {}'),
      edit('src/cart.ts', '', { before: 'function openCart() {}' }),
      agent('The function openCart is no more.'),
    );
    expect(ofKind(facts, 'file')[0]?.detail?.declared).toBeUndefined();
  });

  it('that an edit could not change are listed as such', () => {
    const change = [{ path: `${CWD}/src/cart.ts`, change: 'edited', before: 'a', after: 'b' } as const];
    const [file] = ofKind(distillSession(done({ kind: 'edit', edits: change }, 'no match', false)), 'file');
    expect([file?.detail?.edits, file?.detail?.failures]).toEqual([0, 1]);
  });
});

describe('a file that a command removed', () => {
  const made = edit('src/cart.ts', 'export const cart = [];');

  it.each([
    'rm src/cart.ts',
    'rm -f ./src/cart.ts && npm test',
    'git rm -q src/cart.ts',
    'cd src && rm cart.ts',
    'rm -rf src',
    'rm src/*.ts',
    'rm "src/cart.ts"',
    'git mv src/cart.ts src/basket.ts',
    'mv src/cart.ts lib/',
    'Remove-Item -Force src/cart.ts',
    'unlink src/cart.ts',
    `sudo rm ${CWD}/src/cart.ts`,
    'cd ~/shop && rm src/cart.ts',
    'rm ~/shop/src/cart.ts',
  ])('is deleted: %s', (command) => {
    expect(statusOf('src/cart.ts', made, run(command))).toBe('deleted');
    expect(statusOf('src/cart.ts', read('src/cart.ts'), run(command))).toBe('deleted');
  });

  it.each([
    ['a command that failed', fail('rm src/cart.ts', 'rm: src/cart.ts: Permission denied')],
    ['one that kept the file', run('git rm --cached src/cart.ts')],
    ['one that another failure would have started', run('npm test || rm src/cart.ts')],
    ['words', run('echo "rm src/cart.ts"')],
    ['a file of nearly the same name', run('rm src/cart.tsx src/art.ts')],
    ['a variable', run('rm $OLD')],
    [
      'one that the human did not allow',
      done({ kind: 'command', command: 'rm src/cart.ts', background: false }, '', false),
    ],
  ])('is not deleted by %s', (_, step) => {
    expect(statusOf('src/cart.ts', made, step)).toBe('edited');
  });

  it('exists again when it is written, or restored by git', () => {
    expect(statusOf('src/cart.ts', made, run('rm src/cart.ts'), made)).toBe('edited');
    expect(statusOf('src/cart.ts', made, run('rm src/cart.ts'), run('git checkout -- src/cart.ts'))).toBe('edited');
    expect(statusOf('src/cart.ts', made, run('rm src/cart.ts'), run('git restore src/cart.ts'))).toBe('edited');
  });

  it('is known from its removal alone, unless the command may not have removed it', () => {
    expect(filesOf(run('git rm src/legacy.ts'))).toEqual([['src/legacy.ts', 'deleted']]);
    expect(statusOf('src/legacy.ts', run('rm -f src/legacy.ts'))).toBe('mentioned');
    expect(filesOf(run('rm dist/main.js /tmp/probe.ts'))).toEqual([]);
    expect(filesOf(run('rm -r legacy'))).toEqual([]);
  });

  it('by moving is listed at both places', () => {
    expect(filesOf(run('git mv src/cart.ts src/basket.ts'))).toEqual([
      ['src/cart.ts', 'deleted'],
      ['src/basket.ts', 'edited'],
    ]);
  });

  it('is among the changed files of the brief', () => {
    const events = scriptSession(
      user('Take the old cart out of the shop'),
      read('src/cart.ts', 'export const cart = [];'),
      run('git rm src/cart.ts src/legacy.ts'),
    );
    expect(renderSession(events).text).toMatch(
      /## Files\n> Changed: src\/: (?:cart|legacy)\.ts \(deleted\), (?:cart|legacy)\.ts \(deleted\)\n/,
    );
  });

  it('keeps its sources', () => {
    const [file]: Fact[] = ofKind(distillSession(made, run('rm src/cart.ts')), 'file');
    expect(file?.sources).toEqual([{ line: 3 }]);
  });
});

it('a file whose reading failed is not called read', () => {
  const missing = done({ kind: 'read', path: `${CWD}/src/gone.ts` }, 'File does not exist.', false);
  const facts = ofKind(distillSession(user('Look at the upload'), missing), 'file');
  expect(facts.filter(({ status }) => status === 'read')).toEqual([]);
});

it('a file that a sub-agent edited is called edited, and the edit is no step of the agent', () => {
  const edited = edit('src/upload.ts', 'retry();');
  const bySubAgent: Step = (call) => edited(call).map((event) => ({ ...event, sidechain: true }));
  const facts = distillSession(user('Look at the upload'), read('src/upload.ts', 'send();'), bySubAgent);
  expect(ofKind(facts, 'file').map(({ status }) => status)).toEqual(['edited']);
  expect(stateOf(user('Look at the upload'), bySubAgent)[0]).toContain('0 calls');
});
