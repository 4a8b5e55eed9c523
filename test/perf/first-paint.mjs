// Prints, as JSON, how many milliseconds Chromium takes to paint a page for the first time, and until its script is done.
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [executablePath = '', path = '', rounds = '1'] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const [paint, drawn] = [[], []];
for (let round = 0; round <= Number(rounds); round++) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(pathToFileURL(path).href);
  const [first, ready] =
    await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve([
    performance.getEntriesByName('first-contentful-paint')[0].startTime,
    performance.getEntriesByType('navigation')[0].domContentLoadedEventStart,
  ]), 100)))`);
  await page.close();
  // The first round only warms up.
  if (round === 0) continue;
  paint.push(first);
  drawn.push(ready);
}
await browser.close();
process.stdout.write(`${JSON.stringify({ paint, drawn })}\n`);
