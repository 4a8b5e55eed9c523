import { type Block, countLineBytes, type Printed } from './block.ts';
import { type Share, shareOut } from './fit.ts';

/** What has no weight gets its room first; the rest is shared out by weight, and what is left of it once more. */
export function fillBlocks(blocks: readonly Block[], room: number): Printed[] {
  const headings = blocks.map(({ heading }) => countLineBytes(['', `## ${heading}`]));
  const kept = blocks.map(({ least }, at) => (least === undefined ? 0 : least(room) + (headings[at] ?? 0)));
  let left = room - kept.reduce((sum, bytes) => sum + bytes, 0);
  const printed = blocks.map((block, at): Printed => {
    if (block.weight !== null) return { lines: [], ids: [] };
    left += kept[at] ?? 0;
    const own = block.print(Math.min(block.most, left - (headings[at] ?? 0)));
    if (own.lines.length > 0) left -= countLineBytes(own.lines) + (headings[at] ?? 0);
    return own;
  });
  left += kept.reduce((sum, bytes, at) => sum + (blocks[at]?.weight === null ? 0 : bytes), 0);
  const sharing = blocks.flatMap((block, at): Sharing[] => {
    const full = block.weight === null ? 0 : measureFull(block, Math.min(block.most, 2 * left));
    return full === 0 ? [] : [{ at, block, full, weight: block.weight ?? 0, heading: headings[at] ?? 0 }];
  });
  const allowed = shareBlocks(sharing, left);
  for (const { at, block } of sharing) printed[at] = block.print(allowed.get(at) ?? 0);
  const countSection = ({ at, heading }: Sharing): number => {
    const { lines = [] } = printed[at] ?? {};
    return lines.length === 0 ? 0 : heading + countLineBytes(lines);
  };
  for (const { at, block, heading } of [...sharing].sort((a, b) => b.weight - a.weight)) {
    const others = sharing.filter((other) => other.at !== at).reduce((sum, other) => sum + countSection(other), 0);
    const most = left - others - heading;
    if (most > (allowed.get(at) ?? 0)) printed[at] = block.print(most);
  }
  return printed;
}

interface Sharing extends Share {
  at: number;
  block: Block;
  heading: number;
}

/** By place, the bytes of each section. One that would show nothing gives its room to the others, the least important first. */
function shareBlocks(sharing: readonly Sharing[], room: number): Map<number, number> {
  const allowed = shareWithLeast(sharing, room - sharing.reduce((sum, { heading }) => sum + heading, 0));
  const [weakest] = sharing
    .filter(({ block }, index) => block.print(allowed[index] ?? 0).lines.length === 0)
    .sort((a, b) => a.weight - b.weight || b.at - a.at);
  if (weakest === undefined) return new Map(sharing.map(({ at }, index) => [at, allowed[index] ?? 0]));
  return shareBlocks(
    sharing.filter((other) => other !== weakest),
    room,
  );
}

function shareWithLeast(sharing: readonly Sharing[], bytes: number): number[] {
  const least = sharing.map(({ block, full }) => Math.min(full, block.least?.(bytes) ?? 0));
  const rest = bytes - least.reduce((sum, own) => sum + own, 0);
  const more = shareOut(
    sharing.map(({ full, weight }, index) => ({ full: full - (least[index] ?? 0), weight })),
    rest,
  );
  return least.map((own, index) => own + (more[index] ?? 0) + Math.min(0, rest));
}

const MARGINS = [1, 1.1, 1.25, 1.5, 2];

/** The bytes in which a block prints all that it has to say, or `most`: it may need a margin to share out among its parts. */
function measureFull(block: Block, most: number): number {
  const whole = countLineBytes(block.print(most).lines);
  if (whole === 0) return 0;
  const enough = MARGINS.map((margin) => Math.min(most, Math.ceil(whole * margin) + 1)).find(
    (bytes) => countLineBytes(block.print(bytes).lines) === whole,
  );
  return enough ?? most;
}
