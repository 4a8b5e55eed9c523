import { describeAge } from '../../model/time.ts';
import { findMatches, type SearchHit } from '../../search/query.ts';
import type { CliContext } from './context.ts';
import { bold, dim, type Part, yellow } from './output.ts';

/** One hit after the other, best first: what it says, how far it holds, where it is from, how to open it. */
export function printHits(
  { out, machine }: Pick<CliContext, 'out' | 'machine'>,
  hits: readonly SearchHit[],
  query: string,
): void {
  const now = machine.clock.now();
  for (const [index, hit] of hits.entries()) {
    if (index > 0) out.line();
    out.line(bold(nameKind(hit)), '  ', ...highlight(hit.text, query));
    const standing = describeStanding(hit);
    out.line('  ', ...(standing === '' ? [] : [yellow(standing), dim(', ')]), dim(describeOrigin(hit, now)));
    out.line(dim(`  ${hit.open}`));
  }
}

function nameKind({ what, kind }: SearchHit): string {
  return kind ?? what;
}

function describeStanding({ standing, because, from }: SearchHit): string {
  const words = [];
  if (from.imported === true) words.push('imported');
  if (standing !== undefined && standing !== 'open')
    words.push(because === undefined ? standing : `${standing}: ${because}`);
  return words.join(', ');
}

function describeOrigin({ trust, status, from }: SearchHit, now: number): string {
  const { handovers = 1 } = from;
  return [
    trust,
    status,
    from.speaker,
    from.project?.name,
    from.agent,
    describeAge(now - Date.parse(from.at)),
    from.gone === true ? 'the transcript is gone' : undefined,
    handovers > 1 ? `in ${handovers} handovers` : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function highlight(text: string, query: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of findMatches(text, query)) {
    parts.push(text.slice(end, match.start), bold(text.slice(match.start, match.end)));
    end = match.end;
  }
  return [...parts, text.slice(end)];
}
