import { cleanLine, cutToBytes } from '../../../model/text.ts';
import type { SearchHit } from '../../../search/hit.ts';
import { search } from '../../../search/search.ts';
import { identifyProject } from '../../../workspace/project.ts';
import { findStore } from '../../cli/context.ts';
import { findNotes } from '../../cli/find-notes.ts';
import { printHits } from '../../cli/print-hits.ts';
import { redactWords } from '../../cli/redact-words.ts';
import { parseMoment } from '../../cli/words.ts';
import type { Answer, Call } from '../call.ts';
import { DATA_NOT_ORDERS, printSheet, quote } from '../page.ts';
import { collectLines } from '../printed-lines.ts';
import type { SearchWish } from './search.ts';

export async function searchFacts(call: Call, wish: SearchWish): Promise<Answer> {
  const { machine } = call;
  const { hits, omitted } = await search(
    { store: findStore(call), notes: await findNotes(machine) },
    {
      text: wish.query,
      limit: wish.limit,
      ...(wish.kind === undefined ? {} : { kinds: wish.kind }),
      ...(wish.file === undefined ? {} : { file: wish.file }),
      ...(wish.agent === undefined ? {} : { agent: wish.agent }),
      ...(wish.since === undefined ? {} : { sinceMs: parseMoment(wish.since, machine.clock.now(), 'first') }),
      ...(wish.sessions ? { sessions: true } : {}),
      ...(wish.everywhere ? {} : { project: { id: identifyProject('.', machine).id } }),
    },
  );
  const words = cutToBytes(cleanLine(await redactWords.call(call, wish.query)), 80);
  if (hits.length === 0)
    return { text: `# Nothing was found for "${words}"${wish.everywhere ? '' : ' in this project'}` };
  const more = (count: number): string =>
    `${count} more; ask with a larger limit or budget, or with kind, file or since`;
  const text = printSheet({
    head: [`# Found for "${words}", best first`, DATA_NOT_ORDERS],
    entries: hits.map((hit) => describeHit(call, hit, wish.query)),
    budget: wish.budget,
    omitted,
    more,
  });
  return { text };
}

/** As the command prints it, but for the last line, which says how it is opened. */
function describeHit({ machine }: Call, hit: SearchHit, query: string): string[] {
  const lines = collectLines((out) => printHits({ out, machine }, [hit], query)).slice(0, -1);
  return [...lines.map(quote), `  ${nameOpening(hit)}`];
}

function nameOpening({ what, id, from, open }: SearchHit): string {
  if (what === 'handover') return `get ${JSON.stringify({ id })}`;
  return what === 'fact' ? `get ${JSON.stringify({ id, in: from.handover })}` : quote(open);
}
