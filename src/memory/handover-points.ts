import type { Fact, FactKind } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { cleanLine, cutAtWord } from '../model/text.ts';

/** What a handover tells, in the words of a note: each a heading and its points. */
export interface PointList {
  heading: string;
  points: string[];
}

const MAX_POINTS = 12;
const MAX_POINT_BYTES = 400;

const LISTS: readonly (readonly [heading: string, belongs: (fact: Fact) => boolean])[] = [
  ['Goal', isKind('goal')],
  ['Decisions', isKind('decision')],
  ['Constraints', isKind('constraint')],
  ['Rejected', isKind('rejected')],
  ['What’s Next', (fact) => fact.kind === 'next' || isOpenTask(fact)],
  ['Blockers', (fact) => fact.kind === 'blocker' || (fact.kind === 'error' && fact.status === 'open')],
  ['Open Questions', isKind('question')],
];

function isKind(kind: FactKind): (fact: Fact) => boolean {
  return (fact) => fact.kind === kind;
}

function isOpenTask({ kind, status }: Fact): boolean {
  return kind === 'task' && status !== 'completed' && status !== 'cancelled';
}

/** The points of each list, the pinned ones first; at most a dozen, and then how many more there are. */
export function listPoints({ facts }: Handover): PointList[] {
  return LISTS.map(([heading, belongs]) => {
    const own = facts.filter(belongs);
    const sorted = [...own.filter(({ pinned }) => pinned), ...own.filter(({ pinned }) => !pinned)];
    const points = sorted.slice(0, MAX_POINTS).map(({ text }) => quote(text));
    return {
      heading,
      points: own.length > MAX_POINTS ? [...points, `and ${own.length - MAX_POINTS} more`] : points,
    };
  });
}

/** Text of others on one line of Markdown: it can neither begin a heading nor hide what follows it. */
export function quote(text: string): string {
  return cutAtWord(cleanLine(text), MAX_POINT_BYTES).replaceAll('<!--', '&lt;!--');
}

/** A handover as a note of layer 1. */
export function printNote(handover: Handover): string {
  const { title, summary, id, session } = handover;
  const lists = listPoints(handover)
    .filter(({ points }) => points.length > 0)
    .flatMap(({ heading, points }) => ['', `## ${heading}`, ...points.map((point) => `- ${point}`)]);
  const said = summary.trim() === '' ? [] : ['', quote(summary)];
  return [`# ${quote(title)}`, '', `Handover ${id}, from ${quote(session.agent)}.`, ...said, ...lists].join(
    '\n',
  );
}
