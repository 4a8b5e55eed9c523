import { isMissed } from './line.mjs';

/** @typedef {import('./line.mjs').Line} Line */

const FORMS = {
  'ms over node': (/** @type {number} */ value) => `${sign(value)}${value.toFixed(1)} ms`,
  's over node': (/** @type {number} */ value) => `${sign(value)}${value.toFixed(2)} s`,
  s: (/** @type {number} */ value) => `${value.toFixed(2)} s`,
  times: (/** @type {number} */ value) => `${value.toFixed(2)} x`,
  MB: (/** @type {number} */ value) => `${value.toFixed(0)} MB`,
};

/** @param {number} value */
function sign(value) {
  return value < 0 ? '' : '+';
}

/**
 * A Markdown table, so that it can go into the documentation as it is.
 * @param {readonly Line[]} lines
 */
export function formatTable(lines) {
  const rows = lines.map((line) => {
    const form = FORMS[line.unit];
    const limit = line.limit === null ? '' : form(line.limit);
    return [line.name, form(line.min), form(line.median), String(line.rounds), limit, judge(line)];
  });
  const table = [['measured', 'min', 'median', 'rounds', 'at most', ''], ...rows];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const [head = '', ...body] = table.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  return [head, rule, ...body].join('\n');
}

/** @param {Line} line */
function judge(line) {
  if (line.limit === null) return '';
  return isMissed(line) ? 'MISSED' : 'ok';
}
