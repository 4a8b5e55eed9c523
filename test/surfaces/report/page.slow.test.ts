import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIBRARY_PAYLOADS } from '../../hostile/payloads.ts';
import { makeSandbox } from '../../support/cli.ts';
import { DECLARED, HUMAN, makeFact, OBSERVED } from '../../support/facts.ts';
import { findUnsafe } from '../../support/printable.ts';
import { findChromium, joinWork, saveWork } from '../../support/report.ts';
import { writeText } from '../../support/transcripts.ts';

const program = findChromium();
const OTHER = {
  project: { id: 'p-1111111111111111', name: 'billing', remote: null },
  workspace: { root: '/billing', folder: '', worktree: null, git: null },
};

const work = makeSandbox();
const file = join(work.folder, 'report.html');
const DAY_MS = 86_400_000;
const now = Date.now();
const daysAgo = (days: number): string => new Date(now - days * DAY_MS).toISOString();
let browser: Browser;

/** Thirty sessions in a row, then two branches of which one takes in a note; another project beside them. */
function saveWorkOfWeeks(): void {
  const answer = { ...HUMAN, detail: { role: 'answer' } };
  let previous: string | null = null;
  for (let at = 0; at < 30; at++) {
    const facts = [
      makeFact('goal', `Step ${at} of the cart`, HUMAN),
      makeFact('decision', `Decision ${at}`, answer),
      makeFact('file', `src/part-${at % 20}.ts`, { ...OBSERVED, status: 'edited' }),
      makeFact('check', 'npm test', { ...OBSERVED, status: at % 3 === 0 ? 'failed' : 'ok' }),
    ];
    previous = saveWork(work, { session: `s-${at}`, at: daysAgo(40 - at), facts, more: { previous } }).id;
  }
  const note = saveWork(work, { agent: 'manual', at: daysAgo(9), facts: [makeFact('goal', 'A note', DECLARED)] }).id;
  saveWork(work, {
    agent: 'codex',
    session: 's-branch',
    at: daysAgo(8),
    facts: [makeFact('goal', 'Try the zebra driver', HUMAN), makeFact('rejected', 'The yak driver', answer)],
    more: { previous },
  });
  saveWork(work, {
    agent: 'codex',
    session: 's-main',
    at: daysAgo(2),
    facts: [
      makeFact('goal', 'Finish the cart', HUMAN),
      makeFact('next', 'Write the last test', DECLARED),
      makeFact('error', 'AssertionError: 3', { ...OBSERVED, status: 'open' }),
    ],
    more: { previous, ...joinWork(note) },
  });
  saveWork(work, { session: 's-other', at: daysAgo(1), facts: [makeFact('goal', 'Invoices', HUMAN)], more: OTHER });
}

/** What a page did besides being shown. */
interface Watched {
  page: Page;
  requests: string[];
  complaints: string[];
}

async function open(path: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const page = await browser.newPage(options);
  const [requests, complaints]: [string[], string[]] = [[], []];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(pathToFileURL(path).href);
  return { page, requests, complaints };
}

const count = async (page: Page): Promise<string> => (await page.locator('#count').textContent()) ?? '';

const missing = program === null ? ' (skipped: there is no Chromium; apt-get install chromium)' : '';

describe.skipIf(program === null)(`the page of a report, in Chromium${missing}`, () => {
  beforeAll(async () => {
    saveWorkOfWeeks();
    await work.ok(['report', '--all-projects', '--output', file]);
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] });
  });

  afterAll(() => browser.close());

  it('is shown from the file alone: it asks for nothing else, and its policy stops nothing of its own', async () => {
    const { page, requests, complaints } = await open(file);
    await page.waitForTimeout(500);
    expect(requests).toEqual([pathToFileURL(file).href]);
    expect(complaints).toEqual([]);
    expect(await count(page)).toBe('34 sessions');
    expect(await page.locator('main h2').allTextContents()).toEqual([
      'Open now',
      'Sessions',
      'Line of work',
      'Decisions and rejected ideas',
      'Checks',
      'Files',
    ]);
    expect(await page.locator('svg.chart').count()).toBe(2);
    await page.close();
  });

  it('runs no script that is not its own', async () => {
    const { page, complaints } = await open(file);
    await page.evaluate(`
      const script = document.createElement('script');
      script.textContent = 'window.wasRun = true';
      document.body.append(script);
      const image = document.createElement('img');
      image.src = 'https://example.invalid/x.png';
      document.body.append(image);
    `);
    await expect.poll(() => complaints.join('\n')).toContain('Content Security Policy');
    expect(await page.evaluate('window.wasRun')).toBeUndefined();
    await page.close();
  });

  it('is filtered by agent, project and period, says how many are left, and is whole again after a reset', async () => {
    const { page } = await open(file);
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('codex');
    await expect.poll(() => count(page)).toBe('2 of 34 sessions');
    expect(await page.locator('.work .goal').allTextContents()).toEqual(['Finish the cart', 'Try the zebra driver']);
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => count(page)).toBe('34 sessions');
    await page.getByRole('combobox', { name: 'Project' }).selectOption({ label: 'billing' });
    await expect.poll(() => count(page)).toBe('1 of 34 sessions');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('combobox', { name: 'Period' }).selectOption('7');
    await expect.poll(() => count(page)).toBe('2 of 34 sessions');
    expect(await page.locator('#count').getAttribute('role')).toBe('status');
    await page.close();
  });

  it('is searched: sessions, decisions and files with the words are left', async () => {
    const { page } = await open(file);
    const search = page.getByLabel('Search');
    await search.fill('YAK driver');
    await expect.poll(() => count(page)).toBe('1 of 34 sessions');
    expect(await page.locator('.rejected .items li > p:first-child').allTextContents()).toEqual(['The yak driver']);
    await search.fill('src/part-7.ts');
    await expect.poll(() => count(page)).toBe('2 of 34 sessions');
    expect(await page.locator('#files tbody tr').count()).toBe(1);
    await search.fill('no such word anywhere');
    await expect.poll(() => count(page)).toBe('0 of 34 sessions');
    expect(await page.locator('#work').textContent()).toContain('Nothing here for what is selected.');
    await page.close();
  });

  it('shows long lists a page at a time, and the focus stays on the button that turns them', async () => {
    const { page } = await open(file);
    const next = page.locator('#work').getByRole('button', { name: 'Next' });
    expect(await page.locator('.work > li').count()).toBe(25);
    await next.focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('.work > li').count()).toBe(9);
    expect(await page.locator('#work .pager').textContent()).toContain('26–34 of 34 sessions');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Next');
    expect(await next.getAttribute('aria-disabled')).toBe('true');
    await page.close();
  });

  it('is used by keyboard alone: past the filter to the report, and into a session', async () => {
    const { page } = await open(file);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the report');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('report');
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(`document.activeElement.matches('.work summary')`)) break;
    }
    expect(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('solid');
    await page.keyboard.press('Enter');
    expect(await page.locator('.work details[open] .session').textContent()).toContain('handover show');
    await page.close();
  });

  it('draws the branch and the note that was taken in, and tells both in a table', async () => {
    const { page } = await open(file);
    expect(await page.locator('.work path.joined').count()).toBeGreaterThan(0);
    expect(
      await page.evaluate(
        `new Set(Array.from(document.querySelectorAll('.work circle'), ({ cx }) => cx.baseVal.value)).size`,
      ),
    ).toBeGreaterThan(1);
    await page.locator('#work').getByText('The same as a table').click();
    const rows = await page.locator('#work tbody tr').allTextContents();
    const main = rows.find((row) => row.includes('Finish the cart')) ?? '';
    expect(main.match(/\d{8}-\d{6}-\w{4}/g)).toHaveLength(3);
    await page.close();
  });

  it('is light or dark as the system is, until somebody says otherwise, and light on paper', async () => {
    const { page } = await open(file, { colorScheme: 'dark' });
    const brightness = (): Promise<unknown> =>
      page.evaluate(`Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])`);
    expect(await brightness()).toBeLessThan(60);
    await page.getByRole('button', { name: 'Dark' }).click();
    expect(await brightness()).toBeGreaterThan(200);
    await page.getByRole('button', { name: 'Dark' }).click();
    expect(await brightness()).toBeLessThan(60);
    await page.emulateMedia({ media: 'print' });
    expect(await brightness()).toBe(255);
    expect(await page.locator('#filter').isVisible()).toBe(false);
    expect(await page.locator('.work .goal').first().isVisible()).toBe(true);
    await page.close();
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const)(
    'has nothing serious for axe to find, %s, %d pixels wide, with all of it open',
    async (colorScheme, width) => {
      const { page } = await open(file, { colorScheme, viewport: { width, height: 900 } });
      await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true`);
      await page.waitForTimeout(300);
      await page.evaluate(axe.source);
      const found = await page.evaluate(
        `axe.run().then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html).join(' ')))`,
      );
      expect(found).toEqual([]);
      await page.close();
    },
  );

  it('shows what was found out again with a brief and without, as numbers that can be read', async () => {
    const none = { found_again: null, calls: null, tokens: null, minutes: null };
    const brief = { successors: 0, enough: false, with_debt: 0, ...none };
    const tokens = { median: 57_086.25, low: 37_392, high: 88_684 };
    const other = { ...brief, successors: 38, enough: true, with_debt: 3, tokens };
    const debt = JSON.stringify({ brief, other });
    const told = writeText(
      join(work.folder, 'debt.html'),
      readFileSync(file, 'utf8').replace('id="data">{', () => `id="data">{"debt":${debt},`),
    );
    const { page } = await open(told);
    const row = page.locator('tr', { hasText: 'Tokens before the first edit' });
    expect(await row.locator('td').allTextContents()).toEqual([
      'Tokens before the first edit',
      '–',
      '57,086.3 (37,392 to 88,684)',
    ]);
    await page.evaluate(axe.source);
    expect(await page.evaluate(`axe.run().then(({ violations }) => violations.map(({ id }) => id))`)).toEqual([]);
    await page.close();
  });

  it('fits a screen of 390 pixels: nothing is wider than it', async () => {
    const { page } = await open(file, { viewport: { width: 390, height: 844 } });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.close();
  });

  it('shows hostile texts as texts: no element, no request and no dialog comes from them', async () => {
    const sandbox = makeSandbox();
    const mark = `x${randomBytes(6).toString('hex')}`;
    const markup = [
      `<script>window.${mark}=1;alert(1)</script>`,
      `</script><script>window.${mark}=1</script>`,
      `<!--<script>${mark}`,
      `<img src=x onerror="window.${mark}=1;alert(1)" class="${mark}">`,
      `<a href="javascript:window.${mark}=1" class="${mark}">a</a>`,
      `javascript:window.${mark}=1`,
      `"><svg onload="window.${mark}=1" class="${mark}"></svg>`,
      `{{constructor.constructor('window.${mark}=1')()}} __REPORT__ "__REPORT__" $& $\` \\u003c`,
    ];
    for (const [at, text] of [...markup, ...Object.values(LIBRARY_PAYLOADS)].entries()) {
      const facts = [
        makeFact('goal', `${mark} ${text}`, HUMAN),
        makeFact('decision', `d ${text}`, { ...HUMAN, detail: { role: 'answer' } }),
        makeFact('rejected', `r ${text}`, { ...HUMAN, detail: { role: 'answer' } }),
        makeFact('file', `f ${text}`, { ...OBSERVED, status: 'edited' }),
        makeFact('check', `c ${text}`, { ...OBSERVED, status: 'failed' }),
        makeFact('next', `n ${text}`, DECLARED),
      ];
      const project = { id: `p-${String(at).padStart(16, '0')}`, name: text.slice(0, 60), remote: null };
      saveWork(sandbox, { agent: text.slice(0, 16), session: `s-${at}`, at: daysAgo(at), facts, more: { project } });
    }
    const path = join(sandbox.folder, 'hostile.html');
    await sandbox.ok(['report', '--all-projects', '--output', path]);
    const { page, requests, complaints } = await open(path);
    await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true`);
    await page.getByLabel('Search').fill(markup[0] ?? '');
    await expect.poll(() => count(page)).toContain('1 of ');
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => count(page)).toBe(`${markup.length + Object.keys(LIBRARY_PAYLOADS).length} sessions`);
    expect([complaints, requests]).toEqual([[], [pathToFileURL(path).href]]);
    expect(await page.evaluate(`window.${mark}`)).toBeUndefined();
    expect(await page.locator(`.${mark}, img, iframe, object, embed, main a, [onerror], [onload]`).count()).toBe(0);
    expect(await page.locator('script').count()).toBe(2);
    const goals = await page.locator('.work .goal').allTextContents();
    for (const text of markup) expect(goals).toContain(`${mark} ${text}`);
    expect(findUnsafe((await page.locator('body').textContent()) ?? '')).toEqual([]);
    await page.close();
  });
});
