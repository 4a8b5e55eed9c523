// Writes the briefs in docs/briefs.md anew, each as the built library makes it of an invented session up to its first
// compaction. A test compares the file with what this writes, so run it when the brief changes: npm run build && npm run briefs
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { captureSession, compileBrief, findReader, inspectTranscript, sealHandover } from '../dist/internals/index.mjs';

const PAGE = 'docs/briefs.md';
/** A fenced block that names an invented session and a budget, or `native` for the agent's own summary. */
const BLOCK = /^~~~text (\S+) (\d+|native)\n[\s\S]*?^~~~$/gm;

const folder = mkdtempSync(join(tmpdir(), 'handover-briefs-'));
try {
  execFileSync(process.execPath, ['test/fixtures/sessions/write/main.mjs', join(folder, 'sessions')]);
  const page = readFileSync(PAGE, 'utf8');
  const briefs = [];
  for (const [, name, budget] of page.matchAll(BLOCK))
    briefs.push(budget === 'native' ? readSummary(name) : await writeBrief(name, Number(budget)));
  const written = page.replace(BLOCK, (_, name, budget) => `~~~text ${name} ${budget}\n${briefs.shift()}~~~`);
  writeFileSync(process.argv[2] ?? PAGE, written);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function writeBrief(name, budget) {
  const { transcript, repo, cutAt } = cutSession(name);
  const { agent, session } = await inspectTranscript(transcript, 'claude-code');
  const { draft } = captureSession(agent, session, pretendMachine(repo));
  const id = `${cutAt.replace(/[-:]/g, '').replace('T', '-').slice(0, 15)}-b13f`;
  const handover = sealHandover({ ...draft, id, created_at: cutAt });
  return compileBrief(handover, findReader('claude-code'), { budget }).text;
}

/** What the agent of the story wrote for itself at the compaction, without the words around it. */
function readSummary(name) {
  const { summary } = cutSession(name);
  return `${/\nSummary:\n([\s\S]*?)\n\nPlease continue/.exec(summary)[1]}\n`;
}

/** The session as it was when its first compaction came. */
function cutSession(name) {
  const sessions = join(folder, 'sessions');
  const index = JSON.parse(readFileSync(join(sessions, 'index.json'), 'utf8'));
  const { file, repo, cut } = index.claude_code.find((entry) => entry.file === `${name}.jsonl`);
  const rows = readFileSync(join(sessions, file), 'utf8').split('\n');
  const transcript = join(folder, file);
  writeFileSync(transcript, `${rows.slice(0, cut).join('\n')}\n`);
  const { timestamp, message } = JSON.parse(rows[cut]);
  return { transcript, repo, cutAt: timestamp, summary: message.content };
}

/** A machine that is the same wherever this runs. It stands in a folder with the name of the session's repository. */
function pretendMachine(repo) {
  const cwd = join(folder, basename(repo));
  mkdirSync(cwd, { recursive: true });
  return {
    clock: { now: () => 0 },
    random: { bytes: (count) => new Uint8Array(count) },
    env: { PATH: process.env.PATH, GIT_CEILING_DIRECTORIES: folder },
    platform: 'linux',
    home: folder,
    cwd,
  };
}
