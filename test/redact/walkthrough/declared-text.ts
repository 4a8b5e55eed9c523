import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Handover } from '../../../src/model/handover.ts';
import { makeEnvelope, writeEnvelope } from '../../fixtures/v2-envelopes.ts';
import { writeIn } from '../../support/publishing.ts';
import type { Walk } from './walkthrough.ts';

export async function declare(walk: Walk): Promise<void> {
  const { sandbox } = walk;
  const flags = ['--goal', '--next', '--decision', '--note', '--pin', '--blocker', '--question', '--file'];
  await walk.run(['save', '--title', walk.plantOne(), '--summary', '-'], {
    input: walk.plant(40).join('\n\n'),
  });
  await walk.run([
    'save',
    '--summary',
    walk.plantOne(),
    ...walk.plant(48).flatMap((text, at) => [flags[at % 8] ?? '', text]),
  ]);
  const { facts } = await sandbox.json<Handover>(['show']);
  for (const [at, mark] of ['pin', 'unpin', 'resolve', 'refute'].entries())
    await walk.run([mark, facts[Math.floor(at / 2)]?.id ?? '', '--because', walk.plantOne()]);
  await walk.run(['pin', walk.plantOne()], { status: 66 });
  await walk.run(['refute', walk.plantOne(), '--because', 'it is over'], { status: 66 });
}

export async function takeOver(walk: Walk): Promise<void> {
  const { sandbox } = walk;
  const texts = walk.plant(30);
  const items = texts.map((text, at) => ({
    id: `20260131-1000${String(at).padStart(2, '0')}-abcd`,
    title: at % 3 === 0 ? text : 'A title',
    tool: 'codex',
    project: sandbox.project,
    summary: at % 3 === 1 ? text : 'A summary',
    next: at % 3 === 2 ? [text] : [],
    created_at: `2026-01-31T10:00:${String(at).padStart(2, '0')}Z`,
  }));
  const records = join(sandbox.folder, 'handoffs.json');
  writeFileSync(records, JSON.stringify({ version: 1, items: [...items, { id: walk.plantOne(), summary: 5 }] }));
  await walk.run(['migrate', '--from', records, '--dry-run', '--json'], { status: 65 });
  await walk.run(['migrate', '--from', records], { status: 65 });
  const [goal, task, next, question, message, decision] = walk.plant(6);
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
  const envelope = join(sandbox.folder, 'env_pane-7_handoff.json');
  writeFileSync(envelope, writeEnvelope(makeEnvelope({ snapshot, decisions })));
  await walk.run(['migrate', '--from', envelope, '--json']);
  const [note, state, archive, soul, memory, session] = walk.plant(6);
  const old = join(sandbox.folder, 'old');
  writeIn(
    old,
    'handover.toml',
    `[handover]\nmemory_dir = "memory"\n[note]\nsession = ${quoteForToml(session ?? '')}\n`,
  );
  writeIn(old, 'memory/layer1/2026-11/codex-2026-11-15.md', `<!-- agent-handover | layer1 | 2026-11-15 -->\n${note}`);
  writeIn(old, 'memory/layer2/current-state.md', `<!-- agent-handover | layer2 | 2026-11-15 -->\n${state}`);
  writeIn(old, 'memory/layer3/2026-10-codex-archive.md', `<!-- agent-handover | layer3 | 2026-11-01 -->\n${archive}`);
  writeIn(old, 'SOUL.md', `# SOUL.md — Who I Am\n\n${soul}\n`);
  writeIn(old, 'MEMORY.md', `# MEMORY.md — What I Know\n\n${memory}\n`);
  await walk.run(['migrate', '--workspace', old, '--json']);
}

/** As JSON does, which leaves one control character as it is. */
function quoteForToml(text: string): string {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f');
}

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

export async function remember(walk: Walk): Promise<void> {
  const { sandbox } = walk;
  writeIn(sandbox.project, 'handover.toml', STEPS);
  await walk.run(['init', '--no-hooks', '--yes', '--blocks', '--name', walk.plantOne()]);
  await walk.run(['run', '--note', walk.plantOne(), '--current-state', walk.plantOne()]);
  await walk.run(['run', '--note', '-', '--json'], { input: walk.plant(5).join('\n') });
  for (const text of walk.plant(3)) await walk.run(['snapshot', '--mode', text, '--stdout']);
  await walk.run(['auto', '--name', walk.plantOne(), '--json'], { status: 64 });
  await walk.run(['auto', '--json']);
  await walk.run(['compact', '--month', '2026-01', '--json']);
  await walk.run(['pause', '--why', walk.plantOne()]);
  await walk.run(['status', '--json']);
  await walk.run(['run', '--note', walk.plantOne()], { status: 75 });
  await walk.run(['unpause']);
  await walk.run(['init', '--no-hooks', '--yes', '--force']);
}
