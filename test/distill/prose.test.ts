import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isChatter, keepProse, splitSentences } from '../../src/distill/prose.ts';

describe('items of a list', () => {
  it('carry their lead-in', () => {
    expect(splitSentences('What changed in the upload:\n- a retry with backoff\n- no retry on 404')).toEqual([
      'What changed in the upload: a retry with backoff',
      'What changed in the upload: no retry on 404',
    ]);
    expect(splitSentences('## Open points\n1. Rate limits are not handled\n2. The delay is fixed')).toEqual([
      'Open points: Rate limits are not handled',
      'Open points: The delay is fixed',
    ]);
    expect(splitSentences('**Risks**\n- The queue may fill up at night')).toEqual([
      'Risks: The queue may fill up at night',
    ]);
  });

  it('carry the nearest lead-in, unless it is empty', () => {
    expect(
      splitSentences('Plan:\n1. Parser:\n   - Read the header first\n2. Writer:\n   - Flush before the rename'),
    ).toEqual(['Parser: Read the header first', 'Writer: Flush before the rename']);
    expect(splitSentences('Summary:\n- The retry waits for two seconds')).toEqual(['The retry waits for two seconds']);
    expect(splitSentences(`${'very '.repeat(20)}long:\n- The retry waits for two seconds`)).toEqual([
      'The retry waits for two seconds',
    ]);
  });

  it('lose their lead-in after another paragraph', () => {
    expect(splitSentences('Risks:\n\nNothing is lost when the power fails.\n- The queue may fill up at night')).toEqual(
      ['Nothing is lost when the power fails.', 'The queue may fill up at night'],
    );
  });

  it('are dropped where they compare options', () => {
    const text = `Options:
- A: use Redis for everything
- B: use Postgres for everything

### Pros
- It is fast and everybody knows it

### Cons:
- It needs another server to run

- **Pros:** fast, small and simple
- Option 2: keep the old queue and wait

We take Postgres for everything.`;
    expect(splitSentences(text)).toEqual(['We take Postgres for everything.']);
  });

  it('are dropped where they are a single word', () => {
    expect(splitSentences('- retry\n- `upload.ts`\n- 12 tests')).toEqual([]);
  });
});

describe('text that is not prose', () => {
  it.each([
    ['a fence', '```ts\nconst limit = readLimit(config, 5)\n```'],
    ['a fence of tildes', '~~~\nconst limit is read from the configuration\n~~~'],
    ['a fence in a fence', '````md\n```\ninner words of an example here\n```\nmore words of an example\n````'],
    ['a fence behind words', 'Run this:```\nnpm run build and then wait for it\n```'],
    ['a fence that is never closed', '```\nnpm run build and then wait for it'],
    ['a table', '| name | what it does here |\n|---|---|\n| retry | tries again and again |'],
    ['a table without edges', 'name | what it does | where\n---|---|---\nretry | tries it again | upload'],
    ['rules', '---\n===\n***\n___'],
    ['a call', 'await retry(send, { times: 5, delay: 2000 })\nretry(send, times, and, more)'],
    ['an assignment', 'limit = read_limit(config, "delay")'],
    ['imports', 'import { retry, wait } from "./retry.ts"\nfrom shop.upload import retry, wait'],
    ['a block', 'for (const file of filesOfTheUpload) {\nreturn await send(file);\n}'],
    ['a prompt of a shell', '$ npm run build && npm test and so on'],
    ['numbered lines of a file', '12→ const limit is read from the config'],
    ['a stack', '    at Object.retry (src/retry.ts:4:5)\n  File "shop/upload.py", line 4, in send'],
    ['a tree of files', '├── src with all of the sources\n└── test with all of the tests'],
  ])('is removed: %s', (_, text) => {
    expect(splitSentences(`The retry waits for two seconds.\n${text}`)).toEqual(['The retry waits for two seconds.']);
    expect(keepProse(text).replace('Run this:', '')).toBe('');
  });

  it('is removed only up to its end', () => {
    expect(
      splitSentences('Use ```npm test``` for the fast tests only.\n```\ncode\n```\nThen wait for the slow ones.'),
    ).toEqual(['Use ```npm test``` for the fast tests only.', 'Then wait for the slow ones.']);
  });

  it('is removed with its markup, leaving names unchanged', () => {
    expect(splitSentences('The **delay** is *never* longer than `MAX_DELAY`.')).toEqual([
      'The delay is never longer than `MAX_DELAY`.',
    ]);
    for (const text of [
      'The glob src/**/*.ts takes in lib/**/*.js as well.',
      'Python calls __init__ before __enter__ here.',
      'The area is 2**8 and not 2**9 as it was.',
      'All of *.ts, *.js and *.mjs are built now.',
    ])
      expect(splitSentences(text)).toEqual([text]);
  });
});

describe('the end of a sentence', () => {
  it.each([
    'We keep sessions in a store, e.g. Redis or a file.',
    'The delay is i.e. Two seconds at the most.',
    'Version v1.2 is needed, because v1.1.9 has the bug.',
    'Dr. Miller and Mrs. Smith agreed on the delay.',
    'We send vs. Receive them in another order.',
    'The parser in src/parse.ts calls lib.rs and a.b.c first.',
    'The word `stop. Then go` is split by nobody here.',
    'Wir nehmen z. B. Redis oder eine einfache Datei.',
    'Usamos p. ej. Redis para guardar las sesiones.',
    'The U.S. Government has its own rules for it.',
  ])('is not in %j', (text) => {
    expect(splitSentences(text)).toEqual([text]);
  });

  it.each([
    ['We chose option B for it. The rest stays as it was.', 2],
    ['A hold is always kept for 30 s. Its owner may come back to it.', 2],
    ['It fails on 404 and it must not. "Never" was the word here.', 2],
    ['Does the retry wait at all? It waits for two seconds or so!', 2],
  ])('is found in %j', (text, count) => {
    expect(splitSentences(text)).toHaveLength(count);
  });

  it('is not at a manual line break', () => {
    const text = `The upload fails because the lock is taken by the reader of the
old file and is never released. A retry would only
wait for ever.`;
    expect(splitSentences(text)).toEqual([
      'The upload fails because the lock is taken by the reader of the old file and is never released.',
      'A retry would only wait for ever.',
    ]);
    expect(
      splitSentences('fix the login of the shop\nadd some tests for the login\nupdate the documents as well'),
    ).toHaveLength(3);
  });
});

describe('sentences in other languages', () => {
  it.each([
    ['Japanese', 'セッションはRedisに保存します。次はテストを書きます。', 2],
    ['Chinese', '我们决定使用 Redis 作为缓存。下一步是编写重试测试。', 2],
    ['Korean', '우리는 Redis를 캐시로 사용합니다. 다음 단계는 테스트 작성입니다.', 2],
    ['Thai', 'เราตัดสินใจใช้ Redis สำหรับแคช', 1],
    ['Arabic', 'قررنا استخدام Redis للتخزين المؤقت. الخطوة التالية هي كتابة الاختبارات.', 2],
    ['Hindi', 'हमने कैश के लिए Redis लिया। अगला कदम परीक्षण लिखना है।', 2],
    ['German', 'Wir nehmen Redis für die Sitzungen. Übrig ist nur noch der Test.', 2],
    ['Spanish', 'Guardamos las sesiones en Redis. ¡El siguiente paso es la prueba!', 2],
    ['Russian', 'Сессии храним в Redis. Осталось написать тесты.', 2],
    ['Greek', 'Κρατάμε τις συνεδρίες στο Redis. Έμεινε μόνο η δοκιμή.', 2],
  ])('are split: %s', (_, text, count) => {
    const sentences = splitSentences(text);
    expect(sentences).toHaveLength(count);
    expect(sentences.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
  });
});

describe('small talk', () => {
  it.each([
    'Let me look at the upload client first.',
    "I'll run the tests again to be sure.",
    'Now I will check the parser for it.',
    'You are absolutely right about the delay?',
    'Would you like me to go on with it?',
    'Want me to write the tests for it',
    "You're right, the delay is too long.",
    'Perfect, that was all of it today',
    '続けてもよろしいですか？',
  ])('includes %j', (text) => {
    expect(isChatter(text)).toBe(true);
  });

  it.each([
    'The delay is two seconds at the most.',
    'Letters of the alphabet are sorted by code.',
    'Goodness of fit is computed by the test.',
    'Readers wait until the lock is free.',
  ])('does not include %j', (text) => {
    expect(isChatter(text)).toBe(false);
  });

  it('before a statement is left out alone', () => {
    expect(splitSentences('OK, so `retry` is still called by the upload.')).toEqual([
      '`retry` is still called by the upload.',
    ]);
    expect(splitSentences('Done — the retry waits for two seconds.')).toEqual(['the retry waits for two seconds.']);
  });
});

describe('keepProse', () => {
  it('keeps the lines that are prose', () => {
    const text = '# Result\n\nThe **retry** works.\n\n```\ncode\n```\n| a | b |\n---\n  - and it waits\nlet x = {';
    expect(keepProse(text)).toBe('Result\nThe retry works.\n  - and it waits');
  });
});

describe('splitting any text', () => {
  const unit = fc.oneof(
    fc.constantFrom('word', 'a', '. ', '\n', '- ', '# ', '**', '`', '```', '~~~', '|', '> ', ':', '日', '。', '(', '"'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );

  it('gives sentences from the text, neither too short nor too long', () => {
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 300 }), (text) => {
        const words = new Set(text.match(/[\p{L}\p{N}]+/gu));
        for (const sentence of splitSentences(text)) {
          expect(sentence).toMatch(/^(?:.{1,60}: )?.{1,400}$/s);
          expect(Buffer.byteLength(sentence)).toBeGreaterThanOrEqual(25);
          expect(sentence).not.toMatch(/[\n\r]/);
          for (const word of sentence.match(/[\p{L}\p{N}]+/gu) ?? []) expect(words).toContain(word);
        }
        expect(keepProse(text).length).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 1000 },
    );
  });
});
