import { appendFileSync, closeSync, openSync, writeSync } from 'node:fs';

/**
 * Writes transcripts as Claude Code does, of invented work: a request now and then, replies with thinking, reads, edits
 * with the file as it was, commands with outputs, progress rows. The same number gives the same rows.
 */

const SESSION = '0f8fad5b-d9cb-469f-a165-70867728950e';
const WORDS =
  'retry queue upload parser session buffer cursor index handle stream frame budget token schema'.split(' ');

/** @param {number} seed */
const word = (seed) => WORDS[Math.abs(seed * 7919) % WORDS.length] ?? '';
/** @param {number} seed */
const name = (seed) => `${word(seed)}${word(seed + 3).replace(/^./, (c) => c.toUpperCase())}${seed % 40}`;
/** @param {number} seed */
const path = (seed) => `/home/dev/shop/src/${word(seed)}/${name(seed % 60)}.ts`;

/** @param {number} seed @param {number} lines */
function code(seed, lines) {
  return Array.from(
    { length: lines },
    (_, i) =>
      `export function ${name(seed + i)}(${word(i)}: string): number { return ${name(seed + i + 1)}(${word(i)}).length; }`,
  ).join('\n');
}

/** @param {number} serial @param {object} row */
function stamp(serial, row) {
  const id = (/** @type {number} */ n) => `${SESSION.slice(0, 24)}${n.toString(16).padStart(12, '0')}`;
  return JSON.stringify({
    parentUuid: serial === 0 ? null : id(serial - 1),
    isSidechain: false,
    cwd: '/home/dev/shop',
    sessionId: SESSION,
    version: '2.1.0',
    gitBranch: 'main',
    uuid: id(serial),
    timestamp: new Date(Date.UTC(2026, 0, 31, 12) + serial * 1000).toISOString(),
    ...row,
  });
}

/**
 * The rows of one step of work.
 * @param {number} serial
 */
function tellStep(serial) {
  const step = Math.floor(serial / 8);
  const user = (/** @type {unknown} */ content, more = {}) => ({
    type: 'user',
    message: { role: 'user', content },
    ...more,
  });
  const agent = (/** @type {object} */ block) => ({
    type: 'assistant',
    message: {
      id: `msg_${serial}`,
      role: 'assistant',
      model: 'claude-model',
      content: [block],
      usage: { input_tokens: 10, output_tokens: 20 },
    },
  });
  const call = (/** @type {string} */ tool, /** @type {object} */ input) =>
    agent({ type: 'tool_use', id: `toolu_${step}_${tool}`, name: tool, input });
  const result = (
    /** @type {string} */ tool,
    /** @type {string} */ content,
    /** @type {object} */ toolUseResult,
  ) => user([{ type: 'tool_result', tool_use_id: `toolu_${step}_${tool}`, content }], { toolUseResult });
  const before = code(step, 60);
  const text = code(step + 9, 120);
  const rows = [
    step % 12 === 0
      ? user(
          `Make ${name(step)} in ${path(step)} handle an empty ${word(step)}, and never log the ${word(step + 1)}`,
        )
      : agent({
          type: 'thinking',
          thinking: `The ${word(step)} is short. `.repeat(40),
          signature: 'x'.repeat(400),
        }),
    agent({
      type: 'text',
      text: `We use \`${name(step)}\` instead of \`${name(step + 2)}\`, because ${path(step)} needs the ${word(step)}.`,
    }),
    call('Read', { file_path: path(step) }),
    result('Read', text, {
      type: 'text',
      file: { filePath: path(step), content: text, numLines: 120, startLine: 1, totalLines: 120 },
    }),
    call('Edit', { file_path: path(step), old_string: code(step, 4), new_string: code(step + 1, 5) }),
    result('Edit', 'The file has been updated.', {
      filePath: path(step),
      oldString: code(step, 4),
      newString: code(step + 1, 5),
      originalFile: before,
      structuredPatch: [],
    }),
    call('Bash', { command: `npm test -- ${path(step)} 2>&1 | tail -40` }),
    result('Bash', `${code(step + 5, 30)}\n${step % 9} failed`, {
      stdout: code(step + 5, 30),
      stderr: '',
      interrupted: false,
    }),
  ];
  return rows.map((row, index) => `${stamp(serial + index, row)}\n`).join('');
}

/**
 * Writes a transcript of at least so many bytes. The number of the row after the last one.
 * @param {string} file
 * @param {number} bytes
 */
export function writeTranscript(file, bytes) {
  const descriptor = openSync(file, 'w');
  let serial = 0;
  for (let size = 0; size < bytes; serial += 8) size += writeSync(descriptor, tellStep(serial));
  closeSync(descriptor);
  return serial;
}

/**
 * Adds three steps of work: 24 rows.
 * @param {string} file
 * @param {number} serial
 */
export function growTranscript(file, serial) {
  for (let step = 0; step < 3; step++) appendFileSync(file, tellStep(serial + 8 * step));
  return serial + 24;
}
