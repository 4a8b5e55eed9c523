import { describe, expect, it } from 'vitest';
import { formatContent } from '../../../src/exchange/bundle/content.ts';
import { FACT_KINDS } from '../../../src/model/fact.ts';
import type { Handover } from '../../../src/model/handover.ts';
import { readHandover } from '../../../src/store/handovers.ts';
import { LIBRARY_PAYLOADS } from '../../hostile/payloads.ts';
import { forge, makePerson, receive, send, takeApart, trust } from '../../support/bundles.ts';
import { runHandover } from '../../support/cli.ts';
import { makeDraft, makeFact, sealDraft } from '../../support/facts.ts';
import { findUnsafe } from '../../support/printable.ts';

describe('text of an imported handover', () => {
  it('is shown without control characters, whatever its fields contain', async () => {
    const [alice, bob] = [await makePerson('alice'), await makePerson('bob', 7)];
    trust(bob, alice);
    const handovers = Object.values(LIBRARY_PAYLOADS).map((payload): Handover => {
      const text = payload.toWellFormed();
      const facts = FACT_KINDS.map((kind) =>
        makeFact(kind, `${kind} ${text}`, { status: text, detail: { outcome: text, [text]: 1 } }),
      );
      return sealDraft(
        makeDraft(facts, {
          title: text,
          summary: text,
          project: { id: 'p-0000000000000000', name: text, remote: text },
          session: {
            agent: text.slice(0, 12),
            id: text,
            terminal: text,
            model: text,
            transcript: text,
            started_at: null,
          },
          workspace: { root: text, folder: text, worktree: text, git: null },
        }),
      );
    });
    const bundle = await send(alice);
    const manifest = { ...takeApart(bundle).parsed, handovers: handovers.length };
    await receive(bob, forge(bundle, alice.keys.secret, { content: formatContent(handovers), manifest }));
    const env = { HOME: bob.store.machine.home, HANDOVER_HOME: bob.store.root };
    for (const { id } of handovers) {
      const kept = readHandover(bob.store, id);
      const texts = [
        kept?.title,
        kept?.summary,
        ...(kept?.facts.filter(({ kind }) => kind !== 'file').map((fact) => fact.text) ?? []),
      ];
      expect(findUnsafe(texts.join('\n'))).toEqual([]);
      const shown = await runHandover(['show', id], { env });
      expect(findUnsafe(shown.stdout + shown.stderr)).toEqual([]);
    }
    for (const args of [
      ['list', '--limit', '0'],
      ['list', '--json'],
      ['render', 'latest'],
      ['doctor'],
      ['diff', 'latest'],
    ]) {
      const { stdout, stderr } = await runHandover(args, { env });
      expect(findUnsafe(stdout + stderr), args.join(' ')).toEqual([]);
    }
  });
});
