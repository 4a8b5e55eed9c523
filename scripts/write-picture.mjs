// Draws docs/terminal.svg from a run of the demo: what is in the picture was printed. Ids, times and ages, which differ in every run,
// are made the same. A test compares the file with what this draws: npm run build && npm run picture
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const FILE = process.argv[2] ?? 'docs/terminal.svg';
const COLUMNS = 104;
/** The end of the session, and the beginning of the brief. What is left out is a line with three dots. */
const [SESSION_LINES, BRIEF_LINES] = [10, 23];
const [CELL, LINE, MARGIN, BAR] = [7.83, 18, 20, 36];
const COLOURS = new Map([
  ['1', { fill: '#f0f6fc', weight: 600 }],
  ['2', { fill: '#8b949e' }],
  ['31', { fill: '#ff7b72' }],
  ['32', { fill: '#7ee787' }],
  ['33', { fill: '#e3b341' }],
  ['36', { fill: '#79c0ff' }],
]);

const env = { ...process.env, FORCE_COLOR: '1', NO_COLOR: '', COLUMNS: String(COLUMNS) };
const printed = execFileSync(process.execPath, ['scripts/demo.mjs', '--only', 'session,resume'], {
  encoding: 'utf8',
  env,
});
const same = printed
  .replace(/\d{8}-\d{6}-[0-9a-z]{4}/g, '20261116-091204-k7dq')
  .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, '2026-11-16T09:12:04.118Z')
  .replace(/\b\d+m ago/g, '3m ago');
const CUT = '\u001b[2m…';
const [session = [], brief = []] = same
  .trim()
  .split('\n\n\u001b[1m──')
  .map((scene, at) => `${at === 0 ? '' : '\u001b[1m──'}${scene}`.split('\n'));
const [title = '', ...work] = session;
const lines = [title, CUT, ...work.slice(-SESSION_LINES), '', ...brief.slice(0, BRIEF_LINES), CUT];
writeFileSync(FILE, draw(lines.flatMap((line) => wrap(parse(line)))));

/** A line as parts of one style each. */
function parse(line) {
  const parts = [];
  let style = '';
  for (const [index, piece] of line.split('\u001b[').entries()) {
    const code = index === 0 ? null : /^(\d+)m/.exec(piece);
    if (code !== null) style = ['0', '22', '39'].includes(code[1]) ? '' : code[1];
    const text = code === null ? piece : piece.slice(code[0].length);
    if (text !== '') parts.push({ text, style });
  }
  return parts;
}

/** Between words where there are any. */
function wrap(parts) {
  const lines = [[]];
  let room = COLUMNS;
  for (const { text, style } of parts) {
    for (let rest = text; rest !== ''; ) {
      const space = rest.length > room ? rest.lastIndexOf(' ', room) : rest.length;
      const end = space <= 0 ? Math.min(room, rest.length) : space;
      lines.at(-1).push({ text: rest.slice(0, end), style });
      room -= end;
      rest = rest.slice(end).replace(/^ /, end < rest.length ? '' : ' ');
      if (rest === '') break;
      lines.push([]);
      room = COLUMNS;
    }
  }
  return lines;
}

function draw(lines) {
  const [width, height] = [Math.ceil(COLUMNS * CELL + 2 * MARGIN), BAR + lines.length * LINE + MARGIN];
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, at) => `<circle cx="${20 + at * 20}" cy="18" r="6" fill="${fill}"/>`,
  );
  const texts = lines.map((parts, at) => {
    let column = 0;
    const spans = parts.map(({ text, style }) => {
      const { fill, weight } = COLOURS.get(style) ?? { fill: '#c9d1d9' };
      const x = (MARGIN + column * CELL).toFixed(1);
      column += [...text].length;
      return `<tspan x="${x}" fill="${fill}"${weight === undefined ? '' : ` font-weight="${weight}"`}>${escapeXml(text)}</tspan>`;
    });
    return `<text y="${BAR + (at + 1) * LINE}" xml:space="preserve">${spans.join('')}</text>`;
  });
  const label = 'A session of Claude Code is killed; handover resume prints the brief of it';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${dots.join('')}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">
${texts.join('\n')}
</g>
</svg>
`;
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
