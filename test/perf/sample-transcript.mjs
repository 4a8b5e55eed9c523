import { appendFileSync, closeSync, openSync, writeSync } from 'node:fs';
import { makeRandom } from './sample-handover.mjs';

/**
 * Writes transcripts of invented work as Claude Code does: its rows, the order of their members, how often each kind comes
 * and how long it is, as counted in sixty real sessions. Of their bytes 61 % are results of tools, nearly half of those the
 * file as it was before an edit; 15 % are progress, 6 % thinking. In a MB are some 57 calls, 6 prompts and 27 replies. The same
 * number gives the same rows.
 */

/** @typedef {import('./sample-handover.mjs').Random} Random */

export const SESSION = '0f8fad5b-d9cb-469f-a165-70867728950e';
const CWD = '/home/dev/shop';
const WORDS =
  'retry queue upload parser session buffer cursor index handle stream frame budget token schema ledger invoice order customer cache worker router policy report export import filter mapper client server store'.split(
    ' ',
  );
const VERBS = 'add fix split move check load save close open count find merge drop read write build test'.split(' ');

/** @template T @param {readonly T[]} items @param {Random} random @returns {T} */
const pick = (items, random) => /** @type {T} */ (items[Math.floor(random() * items.length)]);
/** @param {string} word */
const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
/** @param {Random} random */
const makeName = (random) => `${pick(VERBS, random)}${capital(pick(WORDS, random))}${capital(pick(WORDS, random))}`;

/** @param {Random} random */
function makeLine(random) {
  const word = pick(WORDS, random);
  const forms = [
    () => `  const ${word} = ${makeName(random)}(${pick(WORDS, random)}, { limit: ${Math.floor(random() * 1000)} });`,
    () => `  if (${word}.${pick(WORDS, random)} === null) throw new TypeError("no ${pick(WORDS, random)}");`,
    () => `export function ${makeName(random)}(${word}: string): number {`,
    () => `  return ${word}.map((${pick(WORDS, random)}) => ${makeName(random)}(${word}));`,
    () =>
      `  // The ${word} is ${pick(VERBS, random)}ed before the ${pick(WORDS, random)}, as in "${makeName(random)}".`,
    () => '}',
    () => '',
  ];
  return pick(forms, random)();
}

/** @param {Random} random @param {number} lines */
const makeCode = (random, lines) => Array.from({ length: lines }, () => makeLine(random)).join('\n');

/** @param {Random} random */
const makeSentence = (random) =>
  pick(
    [
      () =>
        `We use \`${makeName(random)}\` instead of a ${pick(WORDS, random)}, because the ${pick(WORDS, random)} is short.`,
      () =>
        `The ${pick(WORDS, random)} in src/${pick(WORDS, random)}/${pick(WORDS, random)}.ts still needs its ${pick(WORDS, random)} — I will look at it next.`,
      () => `All tests of the ${pick(WORDS, random)} pass now ✓, and \`${makeName(random)}\` is covered.`,
      () => `Let me ${pick(VERBS, random)} the ${pick(WORDS, random)} first.`,
    ],
    random,
  )();

/** @param {Random} random @param {number} count */
const makeProse = (random, count) => Array.from({ length: count }, () => makeSentence(random)).join(' ');

/** The files of the project, with what is in them. */
const FILES = (() => {
  const random = makeRandom(7);
  return Array.from({ length: 120 }, () => ({
    path: `${CWD}/src/${pick(WORDS, random)}/${pick(WORDS, random)}${capital(pick(WORDS, random))}.ts`,
    lines: makeCode(random, 60 + Math.floor(random() ** 2 * 1400)).split('\n'),
  }));
})();

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Writes the rows of one transcript, each hanging on the one before. */
class Writer {
  /** @type {string[]} */
  rows = [];

  /** @param {number} serial */
  constructor(serial) {
    this.serial = serial;
    this.random = makeRandom(serial + 1);
  }

  /** @param {number} number */
  id(number) {
    return `${SESSION.slice(0, 24)}${number.toString(16).padStart(12, '0')}`;
  }

  /**
   * A row: what all begin with, what this one has, and its id and time behind the message.
   * @param {object} before
   * @param {object} [behind]
   */
  row(before, behind = {}) {
    const { serial } = this;
    this.rows.push(
      JSON.stringify({
        parentUuid: serial === 0 ? null : this.id(serial - 1),
        isSidechain: false,
        userType: 'external',
        cwd: CWD,
        sessionId: SESSION,
        version: '2.1.33',
        gitBranch: 'feat/retry',
        slug: 'quiet-brook',
        ...before,
        uuid: this.id(serial),
        timestamp: new Date(Date.UTC(2026, 0, 31, 12) + serial * 1000).toISOString(),
        ...behind,
      }),
    );
    this.serial++;
  }

  /** @param {object} block */
  agent(block) {
    this.row({
      message: {
        model: 'claude-model',
        id: `msg_01${this.serial}`,
        type: 'message',
        role: 'assistant',
        content: [block],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: 8,
          cache_creation_input_tokens: 727,
          cache_read_input_tokens: 42661,
          cache_creation: { ephemeral_5m_input_tokens: 727, ephemeral_1h_input_tokens: 0 },
          output_tokens: 1,
          service_tier: 'standard',
        },
      },
      requestId: `req_011${this.serial}`,
      type: 'assistant',
    });
  }

  /** @param {string} name @param {object} input @param {string} content @param {object} data */
  call(name, input, content, data) {
    const id = `toolu_01${this.serial}`;
    this.agent({ type: 'tool_use', id, name, input });
    const asked = this.id(this.serial - 1);
    for (let i = Math.floor(this.random() * 4.3); i > 0; i--) this.progress(id);
    const message = { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content }] };
    this.row({ type: 'user', message }, { toolUseResult: data, sourceToolAssistantUUID: asked });
  }

  /** @param {string} id */
  progress(id) {
    const output = makeCode(this.random, 14);
    const data = { type: 'bash_progress', output, fullOutput: output, elapsedTimeSeconds: 3, totalLines: 14 };
    this.row({ type: 'progress', data, toolUseID: `bash-progress-${this.serial}`, parentToolUseID: id });
  }

  think() {
    const { random } = this;
    const signature = Array.from({ length: 1000 }, () => pick([...LETTERS], random)).join('');
    this.agent({ type: 'thinking', thinking: makeProse(random, 7), signature });
  }

  say() {
    this.agent({ type: 'text', text: makeProse(this.random, 1 + Math.floor(this.random() * 8)) });
  }

  ask() {
    const { random } = this;
    const content = `Please ${pick(VERBS, random)} the ${pick(WORDS, random)} of \`${makeName(random)}\`. ${makeProse(random, 2 + Math.floor(random() * 36))}`;
    this.snapshot();
    this.row({ type: 'user', message: { role: 'user', content } });
  }

  /** What Claude Code keeps for going back: it has no event. */
  snapshot() {
    const messageId = this.id(this.serial);
    const trackedFileBackups = Object.fromEntries(
      FILES.slice(0, 6).map(({ path }, at) => [path, { backupFileName: `${at}@v1`, version: 1, backupTime: null }]),
    );
    this.rows.push(
      JSON.stringify({ type: 'file-history-snapshot', messageId, snapshot: { messageId, trackedFileBackups } }),
    );
  }

  write() {
    const { random } = this;
    const { path } = pick(FILES, random);
    const filePath = path.replace('.ts', `${capital(pick(WORDS, random))}.ts`);
    const content = makeCode(random, 100 + Math.floor(random() * 200));
    const data = { type: 'create', filePath, content, structuredPatch: [] };
    this.call('Write', { file_path: filePath, content }, `File created successfully at: ${filePath}`, data);
  }

  read() {
    const { path, lines } = pick(FILES, this.random);
    const shown = lines.slice(0, 150);
    const numbered = shown.map((line, index) => `${String(index + 1).padStart(6)}→${line}`).join('\n');
    const place = { numLines: shown.length, startLine: 1, totalLines: lines.length };
    const file = { filePath: path, content: shown.join('\n'), ...place };
    this.call('Read', { file_path: path }, numbered, { type: 'text', file });
  }

  edit() {
    const { random } = this;
    const { path, lines } = pick(FILES, random);
    const at = Math.floor(random() * (lines.length - 16));
    const oldString = lines.slice(at, at + 14).join('\n');
    const newString = makeCode(random, 18);
    const patch = { oldStart: at, oldLines: 14, newStart: at, newLines: 18, lines: newString.split('\n') };
    const more = {
      originalFile: lines.join('\n'),
      structuredPatch: [patch],
      userModified: false,
      replaceAll: false,
    };
    this.call(
      'Edit',
      { replace_all: false, file_path: path, old_string: oldString, new_string: newString },
      `The file ${path} has been updated successfully.`,
      { filePath: path, oldString, newString, ...more },
    );
  }

  run() {
    const { random } = this;
    const { path } = pick(FILES, random);
    const command = pick(
      [
        `npm test -- ${path} 2>&1 | tail -40`,
        `cd ${CWD} && npx tsc --noEmit && npm run lint`,
        `cd ${CWD} && git status --short && git diff --stat -- ${path}`,
        `grep -rn "${makeName(random)}" src --include='*.ts' | head -20; ls -la ${path} && sed -n '1,80p' ${path}`,
        `node -e '${makeCode(random, 8).replaceAll("'", '')}' 2>&1 | head -5`,
        `git add ${path} && git commit -m "$(cat <<'EOF'\n${capital(pick(VERBS, random))} the ${pick(WORDS, random)}\n\n${makeProse(random, 4)}\nEOF\n)"`,
      ],
      random,
    );
    const stdout = `${makeCode(random, Math.floor(random() ** 2 * 110))}\n${Math.floor(random() * 9)} failed`;
    const more = { stderr: '', interrupted: false, isImage: false };
    this.call('Bash', { command, description: `Run ${pick(VERBS, random)}` }, stdout, { stdout, ...more });
  }

  search() {
    const { random } = this;
    const pattern = makeName(random);
    const content = Array.from(
      { length: 10 + Math.floor(random() * 60) },
      () => `src/${pick(WORDS, random)}/${pick(WORDS, random)}.ts:${Math.floor(random() * 900)}:${makeLine(random)}`,
    ).join('\n');
    const data = { mode: 'content', numFiles: 0, filenames: [], content, numLines: 40 };
    this.call('Grep', { pattern, path: CWD, output_mode: 'content' }, content, data);
  }

  /** One piece of work. */
  step() {
    const { random } = this;
    if (random() < 0.32) this.ask();
    for (let i = 0; i < 3; i++) {
      if (random() < 0.67) this.think();
      if (random() < 0.48) this.say();
      const chance = random();
      if (chance < 0.02) this.write();
      else if (chance < 0.24) this.edit();
      else if (chance < 0.52) this.read();
      else if (chance < 0.86) this.run();
      else this.search();
    }
  }
}

/**
 * The rows of one piece of work: 20 or more.
 * @param {number} serial Of the first row.
 */
function writeStep(serial) {
  const writer = new Writer(serial);
  while (writer.rows.length < 20) writer.step();
  return { text: `${writer.rows.join('\n')}\n`, next: writer.serial };
}

/**
 * Writes a transcript of at least so many bytes. The number of the row after the last one.
 * @param {string} file
 * @param {number} bytes
 */
export function writeTranscript(file, bytes) {
  const descriptor = openSync(file, 'w');
  let serial = 0;
  for (let size = 0; size < bytes; ) {
    const { text, next } = writeStep(serial);
    size += writeSync(descriptor, text);
    serial = next;
  }
  closeSync(descriptor);
  return serial;
}

/**
 * Adds some 20 rows.
 * @param {string} file
 * @param {number} serial
 */
export function growTranscript(file, serial) {
  const { text, next } = writeStep(serial);
  appendFileSync(file, text);
  return next;
}
