import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../cli.ts';
import { codeOf, publish, writeIn } from '../publishing.ts';

/** A backend with somewhere to publish to. */
export interface PublishCase {
  sandbox: Sandbox;
  /** What was published, by path; without what was there before. */
  read(): Promise<ReadonlyMap<string, string>>;
  /** Another program writes there. */
  writeAsOther(path: string, text: string): Promise<void>;
  cutOff(): Promise<void>;
  reconnect(): Promise<void>;
}

export interface PublishTraits {
  /** It takes HANDOFF.md and nothing else. */
  takesHandoffOnly?: boolean;
  /** What others wrote is replaced by what is newer. */
  lastWriterWins?: boolean;
}

const NOTE = 'memory/layer1/2026-11/work-2026-11-15.md';
const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

/** Every backend publishes the same things in the same way. */
export function testPublisher(name: string, open: () => Promise<PublishCase>, traits: PublishTraits = {}): void {
  const expected = (files: Record<string, string>): Map<string, string> =>
    new Map(Object.entries(files).filter(([path]) => !traits.takesHandoffOnly || path === 'HANDOFF.md'));

  const begin = async (): Promise<PublishCase> => {
    const made = await open();
    writeIn(made.sandbox.project, 'HANDOFF.md', '# Where things stand\n');
    writeIn(made.sandbox.project, NOTE, 'über 😀\r\n');
    return made;
  };

  describe(`publishing to ${name}`, () => {
    it('publishes every file, byte for byte', async () => {
      const { sandbox, read } = await begin();
      expect((await publish(sandbox)).outcome).toBe('published');
      expect(await read()).toEqual(expected({ 'HANDOFF.md': '# Where things stand\n', [NOTE]: 'über 😀\r\n' }));
    });

    it('reports nothing new when all is published, and changes nothing', async () => {
      const { sandbox, read } = await begin();
      await publish(sandbox);
      const before = await read();
      expect(await publish(sandbox)).toMatchObject({ outcome: 'nothing new', changes: [] });
      expect(await read()).toEqual(before);
    });

    it('publishes what changed since', async () => {
      const { sandbox, read } = await begin();
      await publish(sandbox);
      writeIn(sandbox.project, 'HANDOFF.md', '# Further on\n');
      const { outcome, changes } = await publish(sandbox);
      expect({ outcome, changes }).toEqual({
        outcome: 'published',
        changes: [{ path: 'HANDOFF.md', change: 'changed', bytes: 13 }],
      });
      expect((await read()).get('HANDOFF.md')).toBe('# Further on\n');
    });

    it.skipIf(traits.takesHandoffOnly)('recognises a file, whatever its name', async () => {
      const { sandbox, read } = await begin();
      const path = `memory/it's "50 %" <of> a & b + ü.md`;
      writeIn(sandbox.project, path, 'one\n');
      await publish(sandbox);
      expect((await publish(sandbox)).outcome).toBe('nothing new');
      writeIn(sandbox.project, path, 'two\n');
      expect((await publish(sandbox)).changes).toEqual([{ path, change: 'changed', bytes: 4 }]);
      expect((await read()).get(path)).toBe('two\n');
    });

    it('plans exactly what it then publishes, and sends nothing for the plan', async () => {
      const { sandbox, read } = await begin();
      const planned = await publish(sandbox, { dryRun: true });
      expect(planned.outcome).toBe('would publish');
      expect(await read()).toEqual(new Map());
      const published = await publish(sandbox);
      expect(published.changes).toEqual(planned.changes);
      expect((await publish(sandbox, { dryRun: true })).outcome).toBe('nothing new');
    });

    it('redacts secrets in what it publishes, and says so', async () => {
      const { sandbox, read } = await begin();
      writeIn(sandbox.project, 'HANDOFF.md', `token ${SECRET}\n`);
      const { redactions } = await publish(sandbox);
      expect(redactions).toEqual([{ kind: 'github-token', count: 1 }]);
      expect((await read()).get('HANDOFF.md')).toMatch(/^token \[redacted:github-token:\w{8}\]\n$/);
      expect((await publish(sandbox)).outcome).toBe('nothing new');
    });

    it('exits with 69 when disconnected, and the next try publishes everything', async () => {
      const { sandbox, read, cutOff, reconnect } = await begin();
      await cutOff();
      expect(await codeOf(publish(sandbox))).toBe('HANDOVER_REMOTE_UNREACHABLE');
      expect(await codeOf(publish(sandbox))).toBe('HANDOVER_REMOTE_UNREACHABLE');
      await reconnect();
      expect((await publish(sandbox)).outcome).toBe('published');
      expect((await read()).get('HANDOFF.md')).toBe('# Where things stand\n');
      expect((await publish(sandbox)).outcome).toBe('nothing new');
    });

    it('finds what was published though the local record is lost', async () => {
      const { sandbox, read } = await begin();
      await publish(sandbox);
      const before = await read();
      rmSync(join(sandbox.store, 'published'), { recursive: true, force: true });
      await publish(sandbox);
      expect(await read()).toEqual(before);
    });

    it('is complete after four concurrent runs', async () => {
      const { sandbox, read } = await begin();
      const reports = await Promise.all([1, 2, 3, 4].map(() => publish(sandbox)));
      expect(reports.filter(({ outcome }) => outcome === 'published')).toHaveLength(1);
      expect(await read()).toEqual(expected({ 'HANDOFF.md': '# Where things stand\n', [NOTE]: 'über 😀\r\n' }));
    });

    it.skipIf(traits.lastWriterWins)('never overwrites what somebody else wrote since', async () => {
      const { sandbox, read, writeAsOther } = await begin();
      await publish(sandbox);
      await writeAsOther('HANDOFF.md', '# Theirs\n');
      writeIn(sandbox.project, 'HANDOFF.md', '# Ours\n');
      expect(await codeOf(publish(sandbox))).toBe('HANDOVER_PUBLISH_CONFLICT');
      expect((await read()).get('HANDOFF.md')).toBe('# Theirs\n');
    });

    it('follows no link, and says what it left out', async () => {
      const { sandbox, read } = await begin();
      writeIn(sandbox.folder, 'private/key.md', 'private\n');
      rmSync(join(sandbox.project, 'HANDOFF.md'));
      symlinkSync(join(sandbox.folder, 'private', 'key.md'), join(sandbox.project, 'HANDOFF.md'));
      symlinkSync(join(sandbox.folder, 'private'), join(sandbox.project, 'memory', 'linked'));
      const links = traits.takesHandoffOnly ? ['HANDOFF.md'] : ['HANDOFF.md', 'memory/linked'];
      expect((await publish(sandbox)).leftOut).toEqual(links);
      expect([...(await read()).values()].join()).not.toContain('private');
    });
  });
}
