import { HandoverError } from '../../../errors.ts';
import type { Mark } from '../../../handover/marks.ts';
import type { Fact } from '../../../model/fact.ts';
import type { Handover } from '../../../model/handover.ts';
import { cleanLine, cutToBytes } from '../../../model/text.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import { readIntact } from '../../../store/handovers.ts';
import { markFact } from '../../../store/marks.ts';
import { requireHandover } from '../../../store/resolve.ts';
import { identifyProject } from '../../../workspace/project.ts';
import { detectAgent } from '../agents.ts';
import { type CliContext, findStore, withCatalog } from '../context.ts';
import type { MarkFlags } from '../mark-flags.ts';
import { bold } from '../output.ts';
import { pickNamed } from '../pick.ts';
import { requireFact } from '../pick-fact.ts';

export async function runPin(this: CliContext, flags: MarkFlags, word: string): Promise<void> {
  await mark(this, 'pinned', { flags, word });
}

export async function runUnpin(this: CliContext, flags: MarkFlags, word: string): Promise<void> {
  await mark(this, 'unpinned', { flags, word });
}

export async function runResolve(this: CliContext, flags: MarkFlags, word: string): Promise<void> {
  await mark(this, 'resolved', { flags, word });
}

export async function runRefute(this: CliContext, flags: MarkFlags, word: string): Promise<void> {
  await mark(this, 'refuted', { flags, word });
}

async function mark(
  context: CliContext,
  as: Mark['mark'],
  { flags, word }: { flags: MarkFlags; word: string },
): Promise<void> {
  const store = findStore(context);
  const { handover, fact } = await findFact(context, word.trim().toLowerCase(), flags.in);
  const isNew = markFact(
    store,
    { handover, fact },
    {
      mark: as,
      because: flags.because === undefined ? null : redactReason(flags.because, context),
      by: detectAgent(context.machine.env) === null ? 'human' : 'agent',
    },
  );
  if (isNew) (await import('../../../relay/refresh.ts')).refreshReady(store, handover.project.id);
  if (flags.json) {
    context.out.json({
      fact: fact.id,
      mark: as,
      in: handover.id,
      project: handover.project.id,
      changed: isNew,
    });
    return;
  }
  const text = cutToBytes(cleanLine(fact.text), 100);
  context.out.line(isNew ? `${as} ` : `was ${as} already: `, bold(fact.id), `  ${fact.kind}: ${text}`);
}

const ROWS_LOOKED_AT = 200;

/** The fact that is meant, as the newest handover of this project that has it tells it. */
async function findFact(
  context: CliContext,
  word: string,
  named: string | undefined,
): Promise<{ handover: Handover; fact: Fact }> {
  const store = findStore(context);
  if (named !== undefined) {
    const handover = requireHandover(store, await pickNamed(store, named));
    return { handover, fact: requireFact(handover, word) };
  }
  const { id: project, name } = identifyProject('.', context.machine);
  const handover = await withCatalog(context, store, async (catalog) => {
    let looked = 0;
    for await (const { id } of catalog.rows({ project: { id: project } })) {
      const candidate = readIntact(store, id);
      if (candidate?.facts.some((fact) => fact.id.startsWith(word))) return candidate;
      if (++looked === ROWS_LOOKED_AT) break;
    }
    return null;
  });
  if (handover !== null) return { handover, fact: requireFact(handover, word) };
  throw new HandoverError(
    'HANDOVER_NOT_FOUND',
    `no fact of ${name} has the id "${cutToBytes(cleanLine(word), 80)}"`,
    {
      hint: 'See the facts and their ids with: handover show',
    },
  );
}

function redactReason(text: string, { machine }: CliContext): string {
  return openRedactor(machine, { folder: machine.cwd, makesKey: true }).redactText(text, { byHuman: true });
}
