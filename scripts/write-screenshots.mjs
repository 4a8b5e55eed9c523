// Takes docs/report-light.png and docs/report-dark.png: a report of invented work, in Chromium, with fewer colours where there is
// pngquant. npm run build && npm run screenshots
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { writeInventedWork } from './demo/invented-work.mjs';

const target = process.argv[2] ?? 'docs';
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handover-screenshots-')));

try {
  const [home, project, page] = ['home', 'shop', 'report.html'].map((name) => join(folder, name));
  for (const path of [home, project]) mkdirSync(path);
  const env = { PATH: process.env.PATH, HOME: home, HANDOVER_HOME: join(folder, 'store') };
  writeInventedWork({ env, home, cwd: project });
  execFileSync(process.execPath, ['bin/handover.cjs', 'report', '--all-projects', '--output', page], { env });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const shown = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 1420 } });
    await shown.goto(pathToFileURL(page).href);
    // The day on which the picture is taken would differ each time.
    await shown.evaluate(
      `document.getElementById('about').textContent = document.getElementById('about').textContent.replace(/ Written .*/, '')`,
    );
    const path = join(target, `report-${colorScheme}.png`);
    await shown.screenshot({ path });
    spawnSync('pngquant', ['--force', '--ext', '.png', '--speed', '1', '96', path]);
  }
  await browser.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
