import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/model/fact.ts';
import { readSection, renderSession } from '../support/rendered.ts';
import {
  agent,
  answer,
  distillSession,
  edit,
  fail,
  inBackground,
  run,
  type Step,
  scriptSession,
  user,
  withRole,
} from '../support/scripted-session.ts';

/** One session, in the words of a language. */
interface Words {
  request: string;
  question: string;
  reply: string;
  closing: string;
  options: [string, string];
  which: string;
  subject: string;
  next: string;
  asking: string;
}

const LANGUAGES: Record<string, Words> = {
  English: {
    request: 'Make the upload retry when the server is busy',
    question: 'How often shall it try?',
    reply: 'Five times at most',
    closing: 'The upload tries again now.',
    options: ['Wait for a fixed time', 'Wait longer each time'],
    which: 'Which one shall it be?',
    subject: 'Add a retry',
    next: 'Now write a page about it in the manual',
    asking: 'The page is written. Shall I commit it?',
  },
  Portuguese: {
    request: 'Faça o envio tentar de novo quando o servidor estiver ocupado',
    question: 'Quantas vezes deve tentar?',
    reply: 'No máximo cinco vezes',
    closing: 'O envio agora tenta de novo.',
    options: ['Esperar um tempo fixo', 'Esperar cada vez mais'],
    which: 'Qual das duas?',
    subject: 'Tentar o envio de novo',
    next: 'Agora escreva uma página sobre isso no manual',
    asking: 'A página está escrita. Devo fazer o commit?',
  },
  Chinese: {
    request: '服务器繁忙时请让上传自动重试，不要直接失败',
    question: '最多重试几次？',
    reply: '最多五次',
    closing: '上传现在会自动重试。',
    options: ['固定等待时间', '每次等待更久'],
    which: '选哪一个？',
    subject: '上传失败后重试',
    next: '现在在手册里写一页说明这个功能',
    asking: '页面已经写好。要提交吗？',
  },
  Korean: {
    request: '서버가 바쁠 때 업로드를 다시 시도하게 해 주세요',
    question: '몇 번까지 시도할까요?',
    reply: '최대 다섯 번',
    closing: '이제 업로드가 다시 시도합니다.',
    options: ['일정한 시간 기다리기', '점점 더 오래 기다리기'],
    which: '어느 쪽으로 할까요?',
    subject: '업로드 재시도 추가',
    next: '이제 설명서에 이것에 대한 페이지를 써 주세요',
    asking: '페이지를 썼습니다. 커밋할까요?',
  },
  French: {
    request: 'Fais réessayer l’envoi quand le serveur est occupé',
    question: 'Combien de fois faut-il essayer ?',
    reply: 'Cinq fois au plus',
    closing: 'L’envoi réessaie maintenant.',
    options: ['Attendre un temps fixe', 'Attendre de plus en plus longtemps'],
    which: 'Laquelle des deux ?',
    subject: 'Réessayer l’envoi',
    next: 'Écris maintenant une page à ce sujet dans le manuel',
    asking: 'La page est écrite. Dois-je la valider ?',
  },
};

function tell(words: Words): Step[] {
  return [
    user(words.request),
    answer(words.question, words.reply),
    edit('src/upload.ts', 'export function retryUpload() {}'),
    run('npm test', 'Tests: 5 passed, 5 total'),
    run(`git commit -m "${words.subject}"`, `[main 1a2b3c4] ${words.subject}`),
    agent(`${words.closing}\n\n1. ${words.options[0]}\n2. ${words.options[1]}\n\n${words.which}`),
    user('2'),
    inBackground('npm run dev', 'bash_7'),
    agent(words.closing),
    user(words.next),
    edit('src/page.ts', 'export const page = 1;'),
    fail('npm run lint', 'error: the page has no title'),
    agent(words.asking),
  ];
}

/** What the facts are about, without the words. */
function shapeOf(facts: readonly Fact[]): unknown[] {
  return facts.map(({ kind, status, trust, origin, detail, sources }) => [
    kind,
    status,
    trust,
    origin,
    detail?.role,
    detail?.message,
    detail?.turn,
    sources,
  ]);
}

describe.each(Object.entries(LANGUAGES))('a session in %s', (_, words) => {
  const facts = distillSession(...tell(words));
  const brief = renderSession(scriptSession(...tell(words)), { budget: 4000 }).text;

  it('gives the same facts as in any other language', () => {
    const english = LANGUAGES.English;
    expect(english).toBeDefined();
    if (english !== undefined) expect(shapeOf(facts)).toEqual(shapeOf(distillSession(...tell(english))));
  });

  it('says where it stands', () => {
    expect(readSection(brief, 'Where it stands')).toEqual([
      'The agent spoke last, and its words end in a question to the user. Turn 3, 7 calls.',
      `Commits of this session: 1a2b3c4 "${words.subject}". No push was seen.`,
      'Edited since the last commit: page.ts (1 edit).',
      'Checks: `npm run lint` FAILED, after the last edit: "error: the page has no title"; `npm test` passed, BEFORE the last edit: "Tests: 5 passed, 5 total".',
    ]);
  });

  it('says what the user wants and settled', () => {
    expect(readSection(brief, 'The user')).toEqual([`Now: "${words.next}"`, `First: "${words.request}"`]);
    const settled = readSection(brief, 'What was settled').join('\n');
    expect(settled).toContain(`Asked "${words.question}" → ${words.reply}`);
    expect(settled).toContain(`→ "2", in its list: 2. ${words.options[1]} (the others: 1. ${words.options[0]})`);
  });

  it('says what the agent asked last, and what it said before', () => {
    expect(readSection(brief, 'Next and open').at(-1)).toMatch(/^Asked, not answered yet: \S/);
    expect(withRole(facts, 'closing').map(({ text }) => text.split('\n', 1)[0])).toEqual([
      words.closing,
      words.closing,
    ]);
    expect(readSection(brief, 'Running in the background')).toHaveLength(1);
  });
});
