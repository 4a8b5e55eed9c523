import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Handover } from '../../src/model/handover.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { writeSecrets } from '../fixtures/secrets/write-secrets.ts';
import { makeEnvelope, writeEnvelope } from '../fixtures/v2-envelopes.ts';
import { tellCanaries, Watch } from '../support/canaries.ts';
import { type Desk, makeDesk, runGit } from '../support/cli.ts';
import { settle, startAgent, writeSession } from '../support/hooks.ts';
import { configure, type GitDesk, makeGitDesk, writeIn } from '../support/publishing.ts';
import { BUCKET, openS3Server, S3_KEYS } from '../support/s3-server.ts';
import { listFiles } from '../support/tree.ts';
import { openVaultServer, TOKEN } from '../support/vault-server.ts';

const CANARIES = writeSecrets(500, 11);
const WATCH = new Watch(CANARIES);
let taken = 0;

/** The next ones that were not planted yet. */
function plant(count: number): string[] {
  taken += count;
  return CANARIES.slice(taken - count, taken).map(({ text }) => text);
}

const IN_TRANSCRIPT = CANARIES.slice(0, 230);
taken = IN_TRANSCRIPT.length;

const STEPS = `
[handover]
tag = "shop"

[[step]]
kind = "collect"
agent = "claude-code"

[[step]]
kind = "note"

[[step]]
kind = "current_state"

[[step]]
kind = "snapshot"

[[step]]
kind = "compact"
`;

describe('of 500 planted secrets', () => {
  const outputs: string[] = [];
  const ran = new Set<string>();
  let desk: GitDesk;
  let receiver: Desk;
  let temp: string;

  async function run(
    args: readonly string[],
    options: { input?: string; env?: object; at?: Desk } = {},
  ): Promise<string> {
    const { at = desk, env, ...rest } = options;
    ran.add(args[0] ?? '');
    const { stdout, stderr } = await at.run(args, {
      timeoutMs: 60_000,
      ...rest,
      env: { TMPDIR: temp, ...env },
    });
    outputs.push(`${args[0]}: ${stdout}${stderr}`);
    return stdout;
  }

  beforeAll(async () => {
    desk = makeGitDesk('[publish.git]\nref = "refs/heads/memory"\nremote = "origin"\n');
    receiver = makeDesk();
    temp = join(desk.folder, 'temp');
    mkdirSync(temp);
    for (const text of plant(20))
      runGit(desk.project, 'commit', '-q', '--allow-empty', '-m', text.replaceAll('\n', ' '));
    await capture();
    await hook();
    await declare();
    await takeOver();
    await remember();
    await publish();
    await exchange();
    await look();
  }, 240_000);

  async function capture(): Promise<void> {
    const transcript = new Transcript();
    const path = join(desk.home, '.claude/projects/-home-ann-shop', 'session.jsonl');
    tellCanaries(transcript, IN_TRANSCRIPT.slice(0, 120));
    writeIn(desk.home, '.claude/projects/-home-ann-shop/session.jsonl', transcript.text);
    await run(['capture', '--transcript', path, '--print', 'v2']);
    tellCanaries(transcript, IN_TRANSCRIPT.slice(120));
    writeFileSync(path, transcript.text);
    await run(['capture', '--transcript', path, '--goal', plant(1).join(), '--print', 'brief']);
    await run(['capture', '--transcript', path, '--dry-run', '--json']);
    await run(['show', '--events']);
    await run(['show', '--events', '--json']);
  }

  async function hook(): Promise<void> {
    const session = writeSession(desk);
    const agent = startAgent(desk, { env: { TMPDIR: temp } });
    const call = async (event: string, more: object): Promise<void> => {
      const { stdout, stderr } = await agent.call(event, session.input(more));
      outputs.push(`hook ${event}: ${stdout}${stderr}`);
    };
    await call('SessionStart', { source: 'startup' });
    for (const [at, text] of plant(10).entries()) {
      await call('UserPromptSubmit', { prompt: text });
      session.transcript.human(text);
      session.transcript.say(`Done: ${plant(1).join()}`);
      session.write();
      if (at % 5 === 0)
        await call('PostToolUse', {
          tool_name: 'Bash',
          tool_input: { command: plant(1).join() },
          tool_response: text,
        });
    }
    await call('Stop', { last_assistant_message: plant(1).join() });
    await call('PreCompact', { trigger: 'manual', custom_instructions: plant(1).join() });
    await settle(desk);
    await call('SessionStart', { source: 'compact' });
    await call('SessionEnd', { reason: plant(1).join() });
    await agent.end();
    await settle(desk);
    await run(['hooks', 'install', '--agent', 'claude-code']);
    await run(['hooks', 'status', '--json']);
    await run(['hooks', 'uninstall', '--agent', 'claude-code']);
  }

  async function declare(): Promise<void> {
    const flags = ['--goal', '--next', '--decision', '--note', '--pin', '--blocker', '--question', '--file'];
    await run(['save', '--title', plant(1).join(), '--summary', '-'], { input: plant(40).join('\n\n') });
    await run([
      'save',
      '--summary',
      plant(1).join(),
      ...plant(48).flatMap((text, at) => [flags[at % 8] ?? '', text]),
    ]);
    const { facts } = await desk.json<Handover>(['show']);
    for (const [at, mark] of ['pin', 'unpin', 'resolve', 'refute'].entries())
      await run([mark, facts[Math.floor(at / 2)]?.id ?? '', '--because', plant(1).join()]);
    for (const mark of ['pin', 'refute']) await run([mark, plant(1).join()]);
  }

  async function takeOver(): Promise<void> {
    const texts = plant(30);
    const items = texts.map((text, at) => ({
      id: `20260131-1000${String(at).padStart(2, '0')}-abcd`,
      title: at % 3 === 0 ? text : 'A title',
      tool: 'codex',
      project: desk.project,
      summary: at % 3 === 1 ? text : 'A summary',
      next: at % 3 === 2 ? [text] : [],
      created_at: `2026-01-31T10:00:${String(at).padStart(2, '0')}Z`,
    }));
    const records = join(desk.folder, 'handoffs.json');
    writeFileSync(
      records,
      JSON.stringify({ version: 1, items: [...items, { id: plant(1).join(), summary: 5 }] }),
    );
    await run(['migrate', '--from', records, '--dry-run', '--json']);
    await run(['migrate', '--from', records]);
    const [goal, task, next, question, message, decision] = plant(6);
    const snapshot = {
      goal,
      current_task: task,
      next_step: next,
      open_questions: [question],
      last_user_message: message,
    };
    const decisions = [
      {
        id: `dec_${'2'.repeat(32)}`,
        kind: 'settled_decision',
        summary: decision,
        details: decision,
        priority: 'medium',
        applies_when: 'now',
        source_refs: [],
      },
    ];
    const envelope = join(desk.folder, 'env_pane-7_handoff.json');
    writeFileSync(envelope, writeEnvelope(makeEnvelope({ snapshot, decisions })));
    await run(['migrate', '--from', envelope, '--json']);
    const [note, state, archive, soul, memory, session] = plant(6);
    const old = join(desk.folder, 'old');
    writeIn(
      old,
      'handover.toml',
      `[handover]\nmemory_dir = "memory"\n[note]\nsession = ${JSON.stringify(session)}\n`,
    );
    writeIn(
      old,
      'memory/layer1/2026-11/codex-2026-11-15.md',
      `<!-- agent-handover | layer1 | 2026-11-15 -->\n${note}`,
    );
    writeIn(old, 'memory/layer2/current-state.md', `<!-- agent-handover | layer2 | 2026-11-15 -->\n${state}`);
    writeIn(
      old,
      'memory/layer3/2026-10-codex-archive.md',
      `<!-- agent-handover | layer3 | 2026-11-01 -->\n${archive}`,
    );
    writeIn(old, 'SOUL.md', `# SOUL.md — Who I Am\n\n${soul}\n`);
    writeIn(old, 'MEMORY.md', `# MEMORY.md — What I Know\n\n${memory}\n`);
    await run(['migrate', '--workspace', old, '--json']);
  }

  async function remember(): Promise<void> {
    writeIn(desk.project, 'handover.toml', STEPS);
    await run(['init', '--no-hooks', '--yes', '--name', plant(1).join()]);
    await run(['run', '--note', plant(1).join(), '--current-state', plant(1).join()]);
    await run(['run', '--note', '-', '--json'], { input: plant(5).join('\n') });
    for (const text of plant(3)) await run(['snapshot', '--mode', text, '--stdout']);
    await run(['auto', '--name', plant(1).join(), '--json']);
    await run(['compact', '--month', '2026-01', '--json']);
    await run(['pause', '--why', plant(1).join()]);
    await run(['status', '--json']);
    await run(['run', '--note', plant(1).join()]);
    await run(['unpause']);
    await run(['init', '--no-hooks', '--yes', '--force']);
  }

  async function publish(): Promise<void> {
    const [vault, s3] = [await openVaultServer(), await openS3Server()];
    writeIn(desk.project, 'memory/layer2/current-state.md', plant(10).join('\n\n'));
    await run(['push', '--dry-run', '--json']);
    await run(['push']);
    configure(
      desk,
      `[publish]\nbackend = "s3"\n[publish.s3]\nendpoint = "${s3.url}"\nbucket = "${BUCKET}"\n`,
    );
    await run(['push', '--json'], {
      env: { AWS_ACCESS_KEY_ID: S3_KEYS.id, AWS_SECRET_ACCESS_KEY: S3_KEYS.secret },
    });
    writeIn(desk.project, 'HANDOFF.md', plant(10).join('\n\n'));
    configure(desk, '');
    await run(['push', '--name', 'shop'], {
      env: { MEMORYVAULT_API_KEY: TOKEN, MEMORYVAULT_URL: `${vault.url}/api` },
    });
    expect([vault.posts.length, s3.objects.size].map((count) => count > 0)).toEqual([true, true]);
    outputs.push(
      ...vault.posts,
      ...[...s3.objects].map(([key, bytes]) => `${key}: ${bytes.toString('latin1')}`),
    );
  }

  /** Bundles are looked at as they are, and a locked one as it is where it was imported. */
  async function exchange(): Promise<void> {
    await run(['keys', 'generate', '--name', 'alice']);
    await run(['keys', 'list']);
    const [, key = ''] = / trust (\S+) /.exec(await run(['keys', 'export'])) ?? [];
    await run(['import', '--input', '-', '--trust', key], { input: plant(1).join(), at: receiver });
    for (const format of ['bundle', 'markdown', 'json', 'session-handoff', 'v2']) {
      await run(['export', '--format', format, '--id', 'latest']);
      await run(['export', '--format', format, '--output', join(temp, `one.${format}`)]);
    }
    writeIn(desk.folder, 'passphrase', 'correct horse battery\n');
    const locked = join(temp, 'all.handover');
    const pass = ['--passphrase-file', join(desk.folder, 'passphrase')];
    await run(['export', '--all', '--sign', '--output', locked, ...pass]);
    await run(['import', '--input', locked, '--trust', key, ...pass], { at: receiver });
    await run(['list', '--json', '--limit', '0'], { at: receiver });
    await run(['show', '--json'], { at: receiver });
  }

  async function look(): Promise<void> {
    for (const args of [
      ['list'],
      ['list', '--json', '--limit', '0'],
      ['list', '--query', 'settings'],
      ['select', '--print-id', '--query', plant(1).join()],
      ['show'],
      ['show', '--json'],
      ['show', plant(1).join()],
      ['render'],
      ['render', '--json', '--goal', plant(1).join()],
      ['resume', '--json'],
      ['to', 'codex', '--print', '--goal', plant(1).join()],
      ['debug', '--json'],
      ['diff'],
      ['sessions', '--json'],
      ['restore', '--goal', plant(1).join()],
      ['check'],
      ['cleanup', '--json'],
      ['redact', '--json'],
      ['doctor'],
      ['doctor', '--fix', '--json'],
      ['forget', 'latest'],
    ])
      await run(args);
    outputs.push(await run(['redact', '-'], { input: CANARIES.map(({ text }) => text).join('\n\n') }));
  }

  it('all are planted, of 60 kinds and more, by every command that writes', () => {
    expect(CANARIES).toHaveLength(500);
    expect(taken).toBeGreaterThanOrEqual(450);
    expect(new Set(CANARIES.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(60);
    const planted = new Transcript();
    tellCanaries(planted, IN_TRANSCRIPT);
    expect(WATCH.find(planted.text.replaceAll('\\"', '"')).length).toBeGreaterThan(200);
  });

  it('none is in any file of the store', () => {
    const files = listFiles(desk.store);
    expect(files.length).toBeGreaterThan(30);
    expect(files.some((file) => file.endsWith('index.sqlite'))).toBe(true);
    expect(WATCH.findInFiles(desk.store)).toEqual([]);
  });

  it('none is in what was written into the project', () => {
    // What the user wrote there stays as it is.
    const own = ['HANDOFF.md', 'memory/layer2/current-state.md'];
    const found = ['memory', '.agent-handover', '.']
      .flatMap((path) => listFiles(join(desk.project, path)))
      .filter((file) => !file.includes('/.git/') && !own.some((path) => file.endsWith(path)));
    expect(found.length).toBeGreaterThan(8);
    expect(found.flatMap((file) => WATCH.findInFile(file))).toEqual([]);
  });

  it('none is in the repository that was pushed to', () => {
    expect(WATCH.findInRepository(desk.remote)).toEqual([]);
  });

  it('none is in what another one imported, nor in bundles and other temporary files', () => {
    expect(listFiles(receiver.store).length).toBeGreaterThan(30);
    expect(WATCH.findInFiles(receiver.store)).toEqual([]);
    expect(listFiles(temp).length).toBeGreaterThanOrEqual(6);
    expect(WATCH.findInFiles(temp)).toEqual([]);
  });

  it('none is in what any command printed or sent', () => {
    expect(outputs.length).toBeGreaterThan(80);
    expect(
      outputs.flatMap((output) => WATCH.find(output).map((told) => `${output.slice(0, 60)}: ${told}`)),
    ).toEqual([]);
  });
});
