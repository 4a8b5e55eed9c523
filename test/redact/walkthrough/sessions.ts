import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listCuts } from '../../../eval/redaction/recall.ts';
import { HOOK_EVENTS, type HookedAgent } from '../../../src/agents/hook-input.ts';
import { acquireLock } from '../../../src/platform/lock.ts';
import { systemClock } from '../../../src/platform/machine.ts';
import { LOCKS, WORKER_LOCK_PREFIX } from '../../../src/store/store.ts';
import * as aider from '../../fixtures/agents/aider.ts';
import { SESSION_ID, Transcript } from '../../fixtures/agents/claude-code.ts';
import * as cline from '../../fixtures/agents/cline.ts';
import * as codex from '../../fixtures/agents/codex.ts';
import * as copilot from '../../fixtures/agents/copilot.ts';
import { makeDatabase } from '../../fixtures/agents/database.ts';
import * as gemini from '../../fixtures/agents/gemini.ts';
import * as opencode from '../../fixtures/agents/opencode.ts';
import * as qwen from '../../fixtures/agents/qwen.ts';
import { STORIES } from '../../fixtures/agents/stories.ts';
import { plantCanaries } from '../../support/canaries.ts';
import { runGit } from '../../support/cli.ts';
import { STORY_CWD } from '../../support/conformance/agents.ts';
import { startAgent, waitForWorkers, writeSession } from '../../support/hooks.ts';
import { writeIn } from '../../support/publishing.ts';
import type { Walk } from './walkthrough.ts';

/** Branch, commits, names and contents of files, as git reports them. */
export function plantInGit(walk: Walk): void {
  const { project } = walk.sandbox;
  const git = (...args: string[]): string => runGit(project, ...args);
  const [branch, folder, file, moved, staged] = walk.plantNames(5);
  for (const text of walk.plant(20)) git('commit', '--quiet', '--allow-empty', '--message', text.replaceAll('\n', ' '));
  writeIn(project, `${folder}/settings.txt`, walk.plantOne());
  writeIn(project, 'src/upload.ts', 'export const upload = 1;\n');
  git('add', '--all');
  git('commit', '--quiet', '--message', walk.plantOne());
  git('switch', '--quiet', '--create', `fix/${branch}`);
  renameSync(join(project, 'src/upload.ts'), join(project, `src/${moved}.ts`));
  git('add', '--all');
  writeIn(project, `src/${staged}.ts`, walk.plantOne());
  git('add', '--all');
  writeIn(project, 'code.txt', walk.plant(3).join('\n'));
  writeIn(project, `${file}.txt`, walk.plantOne());
}

/** A long session, captured while it goes on. */
export async function captureSession(walk: Walk): Promise<void> {
  const transcript = new Transcript({ cwd: walk.sandbox.project });
  const path = join(walk.sandbox.home, '.claude/projects/-home-ann-shop', 'session.jsonl');
  plantCanaries(transcript, walk.take(120));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, transcript.text);
  await walk.run(['capture', '--transcript', path, '--print', 'v2']);
  plantCanaries(transcript, walk.take(110));
  plantInLongOutputs(walk, transcript);
  const [touched] = walk.plantNames(1);
  transcript.call('named', 'Edit', {
    file_path: join(walk.sandbox.project, `src/${touched}.ts`),
    old_string: walk.plantOne(),
    new_string: walk.plantOne(),
  });
  transcript.result('named', 'updated');
  writeFileSync(path, transcript.text);
  await walk.run(['capture', '--transcript', path, '--goal', walk.plantOne(), '--print', 'brief']);
  await walk.run(['capture', '--transcript', path, '--dry-run', '--json']);
  await walk.run(['show', '--events']);
  await walk.run(['show', '--events', '--json']);
}

/** Where a long output is cut: at the end of what is kept of its beginning, and at the beginning of what is kept of its end. */
function plantInLongOutputs(walk: Walk, transcript: Transcript): void {
  for (const [at, { text, kind }] of walk.take(60).entries())
    for (const [index, output] of listCuts(text, kind === 'private-key' ? 0.4 : 0.6).entries()) {
      const id = `long-${at}-${index}`;
      transcript.call(id, 'Bash', { command: 'cat log' });
      transcript.result(id, output, { isError: index % 2 === 0 });
    }
}

/** A session whose hooks run while the worker is held up, so that all their jobs stay queued. */
export async function callHooks(walk: Walk): Promise<void> {
  const { sandbox } = walk;
  const session = writeSession(sandbox);
  const agent = startAgent(sandbox, { env: { TMPDIR: walk.temp } });
  const call = async (event: string, more: object): Promise<void> =>
    void walk.hear(`hook ${event}`, await agent.call(event, session.input(more)));
  await call('SessionStart', { source: 'startup' });
  const locks = holdWorkers(sandbox.store);
  for (const text of walk.plant(8)) {
    await call('UserPromptSubmit', { prompt: text });
    session.transcript.human(text);
    session.transcript.say(`Done: ${walk.plantOne()}`);
    session.write();
  }
  await call('Stop', { last_assistant_message: walk.plantOne() });
  await call('PreCompact', { trigger: 'manual', custom_instructions: walk.plantOne() });
  walk.lookNow('while the worker was away');
  for (const { release } of locks) release();
  await waitForWorkers(sandbox);
  await call('SessionStart', { source: 'compact' });
  walk.lookNow('when a brief lay ready');
  await call('SessionEnd', { reason: walk.plantOne() });
  await agent.end();
  await waitForWorkers(sandbox);
  await walk.run(['hooks', 'install', '--agent', 'claude-code']);
  await walk.run(['hooks', 'status', '--json']);
  await walk.run(['hooks', 'uninstall', '--agent', 'claude-code']);
}

/** Takes the place of every worker. */
function holdWorkers(store: string): { release(): void }[] {
  const folder = join(store, LOCKS);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return [...'0123456789abcdef'].map((digit) =>
    acquireLock({ folder, name: `${WORKER_LOCK_PREFIX}${digit}`, waitMs: 5000, clock: systemClock }),
  );
}

/** What every story says, and in whose place a secret is put. */
const SAID = [
  'Make the upload retry when the server is busy',
  'Never retry on 404',
  'We use exponential backoff instead of a queue',
];

/** The story of the conformance suite, in this project, with secrets in it. */
function retell(walk: Walk, story: string, write: (text: string) => string): string {
  const told = story.replaceAll(STORY_CWD, walk.sandbox.project);
  return SAID.reduce((text, said) => {
    const secret = write(walk.plantOne());
    return text.replaceAll(said, () => secret);
  }, told);
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** A session of every agent, through its hooks where it has some. */
export async function captureAgents(walk: Walk): Promise<void> {
  const { home, project } = walk.sandbox;
  const paths = new Map<string, string>();
  for (const { agent, place, text } of STORIES) {
    writeIn(home, place, retell(walk, text, inJson));
    paths.set(agent, join(home, place));
  }
  const folder = `.cline/data/sessions/${cline.SESSION}`;
  writeIn(home, `${folder}/${cline.SESSION}.json`, retell(walk, JSON.stringify(cline.manifest(), null, 2), inJson));
  const messages = JSON.stringify(cline.file(cline.story()));
  writeIn(home, `${folder}/${cline.SESSION}.messages.json`, retell(walk, messages, inJson));
  writeOpenCode(walk, join(home, '.local/share/opencode/opencode.db'));
  writeIn(
    project,
    '.aider.chat.history.md',
    retell(walk, aider.STORY_TEXT, (text) => text.replaceAll('\n', '  \n#### ')),
  );
  paths.set('aider', join(project, '.aider.chat.history.md'));
  const sessions = new Map(Object.entries(SESSIONS));
  for (const [agent, hooks] of Object.entries(HOOK_EVENTS)) {
    const who = { agent, events: Object.keys(hooks), session: sessions.get(agent) ?? '' };
    await hookAgent(walk, who, paths.get(agent) ?? null);
  }
  await waitForWorkers(walk.sandbox);
  for (const agent of ['goose', 'pi', 'aider']) {
    walk.agents.add(agent);
    await walk.run(['capture', '--transcript', paths.get(agent) ?? '', '--agent', agent]);
  }
}

function writeOpenCode(walk: Walk, path: string): void {
  const messages: typeof opencode.STORY_MESSAGES = JSON.parse(
    retell(walk, JSON.stringify(opencode.STORY_MESSAGES), inJson),
  );
  mkdirSync(dirname(path), { recursive: true });
  makeDatabase(path, (database) => {
    opencode.createSchema(database);
    opencode.insertSession(database, { messages, title: walk.plantOne() });
    database.exec(`UPDATE session SET directory = '${walk.sandbox.project}'`);
  });
}

const SESSIONS: Readonly<Record<HookedAgent, string>> = {
  'claude-code': SESSION_ID,
  codex: codex.THREAD,
  gemini: gemini.SESSION_ID,
  opencode: opencode.SESSION_ID,
  qwen: qwen.SESSION_ID,
  copilot: copilot.SESSION,
  cline: cline.SESSION,
};

/** Every hook of an agent, each with secrets in all members in which an agent sends text. */
async function hookAgent(
  walk: Walk,
  { agent, events, session }: { agent: string; events: readonly string[]; session: string },
  path: string | null,
): Promise<void> {
  const { sandbox } = walk;
  walk.agents.add(agent);
  const running = startAgent(sandbox, { agent, env: { TMPDIR: walk.temp } });
  for (const event of events) {
    const [one, two, three] = walk.plant(3);
    const result = await running.call(event, {
      session_id: session,
      sessionId: session,
      taskId: 'conv_1',
      sessionContext: { rootSessionId: session },
      transcript_path: path,
      transcriptPath: path,
      cwd: sandbox.project,
      workspaceRoots: [sandbox.project],
      parent_agent_id: null,
      source: 'startup',
      trigger: 'manual',
      prompt: one,
      initialPrompt: one,
      prompt_response: two,
      last_assistant_message: two,
      turn: { outputText: two },
      tool_name: 'Bash',
      tool_input: { command: three },
      custom_instructions: three,
      reason: three,
      stopReason: three,
    });
    walk.hear(`hook ${agent} ${event}`, result);
  }
  await running.end();
}
