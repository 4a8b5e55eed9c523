import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSandbox } from '../../support/cli.ts';
import { snapshotTree } from '../../support/tree.ts';

/** As agent-handover 0.5.1 and agent-handoff 0.1.0 write them. */
const FILES: Readonly<Record<string, string>> = {
  'handover.toml':
    '[handover]\nmemory_dir = "memory"\ntag = "codex"\n[note]\nsession = "did a thing"\n[backend]\ntype = "null"\n',
  'memory/layer1/2026-11/codex-2026-11-15.md': '<!-- agent-handover | layer1 | 2026-11-15 -->\ndid a thing',
  'memory/layer1/2026-11/odd.md': 'no date',
  'memory/layer2/current-state.md': '<!-- agent-handover | layer2 | 2026-11-15 -->\nwhere we are',
  'memory/layer3/2026-10-codex-archive.md': '<!-- agent-handover | layer3 | 2026-11-01 -->\nOctober',
  '.agent-handover/checkpoint.json':
    '{\n  "status": "in_progress",\n  "steps": {\n    "session_note": "done",\n    "current_state": "pending"\n  },\n  "started_at": "2026-11-15T11:58:49.924656+00:00",\n  "finished_at": null\n}',
  'SOUL.md': '# SOUL.md — Who I Am\n\n## Identity\n- **Name**: demo\n',
  'MEMORY.md': '# MEMORY.md — What I Know\n',
  'HANDOFF.md': '# HANDOFF.md — Session Continuity\n',
};

describe('handover migrate --workspace', () => {
  it('imports everything that older tools left, changes none of it, and keeps the three documents', async () => {
    const sandbox = makeSandbox();
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(sandbox.project, path)), { recursive: true });
      writeFileSync(join(sandbox.project, path), text);
    }
    const { status, stdout } = await sandbox.run(['migrate', '--workspace', '.', '--json']);
    expect(status).toBe(65);
    const { files }: { files: { path: string; outcome: string; note: string }[] } = JSON.parse(stdout);
    const found = new Map(files.map((file) => [file.path.slice(sandbox.project.length + 1), file]));
    expect(found.get('handover.toml')).toMatchObject({ outcome: 'in use', note: '2 steps' });
    expect(found.get('memory')?.note).toBe('1 file of notes, a current state, 1 archive');
    expect(found.get('memory/layer1/2026-11/odd.md')?.outcome).toBe('refused');
    expect(found.get('.agent-handover/checkpoint.json')).toMatchObject({
      outcome: 'in use',
      note: 'in_progress',
    });
    for (const name of ['SOUL.md', 'MEMORY.md', 'HANDOFF.md']) {
      expect(found.get(name)?.outcome).toBe('kept');
      expect(readFileSync(found.get(name)?.note ?? '', 'utf8')).toBe(FILES[name]);
    }
    for (const [path, text] of Object.entries(FILES))
      expect(readFileSync(join(sandbox.project, path), 'utf8')).toBe(text);
    const kept = snapshotTree(sandbox.store).size;
    await sandbox.run(['migrate', '--workspace', '.']);
    expect(snapshotTree(sandbox.store).size).toBe(kept);
    expect(await sandbox.ok(['run'])).toBe('handover steps executed: current_state\n');
  });
});
