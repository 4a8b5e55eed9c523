import { describeAge } from '../../model/time.ts';
import { findMatches, type SearchHit } from '../../search/query.ts';
import { bold, dim, type Line, type Part, yellow } from './styled-text.ts';

/** What was found and where it is from; the command or call that opens it is left to the surface. */
export function describeHit(hit: SearchHit, query: string, now: number): Line[] {
  const standing = describeStanding(hit);
  return [
    [bold(hit.said === true ? 'said' : (hit.kind ?? hit.what)), '  ', ...highlight(hit.text, query)],
    ['  ', ...(standing === '' ? [] : [yellow(standing), dim(', ')]), dim(describeOrigin(hit, now))],
  ];
}

/** The other lines of a session that match. */
export function countMore(lines: number): string {
  return lines === 1 ? '1 more line of it matches' : `${lines} more lines of it match`;
}

function describeStanding({ standing, because, from, near, trust }: SearchHit): string {
  const words = near === true ? ['near match'] : [];
  if (from.imported === true && trust !== 'imported') words.push('imported');
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
    from.gone === true ? 'transcript deleted' : undefined,
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
