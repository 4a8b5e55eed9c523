import { HandoverError } from '../../errors.ts';
import type { Mark } from '../../handover/marks.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { cleanLine, cutToBytes } from '../../model/text.ts';
import type { Machine } from '../../platform/machine.ts';
import { identifyProject } from '../../platform/project.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { requireHandover } from '../../store/find-handover.ts';
import { readIntact } from '../../store/handovers.ts';
import { markFact } from '../../store/marks.ts';
import { type Context, findStore, withCatalog } from './context.ts';
import { pickNamed } from './pick.ts';
import { matchFacts, requireFact } from './pick-fact.ts';

export interface FactInHandover {
  handover: Handover;
  fact: Fact;
}

export interface MarkOrder {
  mark: Mark['mark'];
  /** The fact, by its id, the beginning of one, or its words. */
  word: string;
  /** The handover that has it, in the words of the user; the newest of the project that has it when left out. */
  named?: string | undefined;
  because?: string | undefined;
  by: 'human' | 'agent';
}

/** Marks the fact that is meant, also for the briefs that lie ready. `isNew` is false when it was marked so already. */
export async function markNamed(
  desk: Context,
  order: MarkOrder,
): Promise<FactInHandover & { isNew: boolean }> {
  const { mark, word, named, because, by } = order;
  const found = await findFact(desk, word, named);
  const reason = because === undefined ? null : redactReason(because, desk.machine);
  const store = findStore(desk);
  const isNew = markFact(store, found, { mark, because: reason, by });
  if (isNew)
    (await import('../../app/automation/prepare-briefs.ts')).refreshPreparedBriefs(
      store,
      found.handover.project.id,
    );
  return { ...found, isNew };
}

const ROWS_LOOKED_AT = 200;

/** The fact that is meant, as the newest handover of this project that has it tells it. */
export async function findFact(desk: Context, words: string, named?: string): Promise<FactInHandover> {
  const store = findStore(desk);
  if (named !== undefined) {
    const handover = requireHandover(store, await pickNamed(store, named));
    return { handover, fact: requireFact(handover, words) };
  }
  const { id: project, name } = identifyProject('.', desk.machine);
  const handover = await withCatalog(desk, store, async (catalog) => {
    let looked = 0;
    for await (const { id } of catalog.rows({ project: { id: project } })) {
      const candidate = readIntact(store, id);
      if (candidate !== null && matchFacts(candidate, words).length > 0) return candidate;
      if (++looked === ROWS_LOOKED_AT) break;
    }
    return null;
  });
  if (handover !== null) return { handover, fact: requireFact(handover, words) };
  throw new HandoverError(
    'HANDOVER_NOT_FOUND',
    `no fact of ${name} is "${cutToBytes(cleanLine(words), 80)}"`,
    {
      hint: 'See the facts and their ids with: handover show; one of another project needs --in HANDOVER.',
    },
  );
}

function redactReason(text: string, machine: Machine): string {
  return openRedactor(machine, { folder: machine.cwd, makesKey: true }).redactText(text, { byHuman: true });
}
