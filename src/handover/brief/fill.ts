import { type Block, countLineBytes, NOTHING, type Printed } from './block.ts';
import { type Share, shareOut } from './fit.ts';

const ROUNDS = 3;
const WORTH_ANOTHER_ROUND = 120;

/** What has no weight gets its room first; the rest is shared out by weight, and what is left of it once more. */
export function fillBlocks(blocks: readonly Block[], room: number): Printed[] {
  const headings = blocks.map(({ heading }) => countLineBytes(['', `## ${heading}`]));
  const kept = blocks.map(({ least }, at) => (least === undefined ? 0 : least + (headings[at] ?? 0)));
  let left = room - kept.reduce((sum, bytes) => sum + bytes, 0);
  const printed = blocks.map((block, at): Printed => {
    if (block.weight !== null) return { lines: [], ids: [] };
    const own = block.print(Math.min(block.most, left - (headings[at] ?? 0)));
    if (own.lines.length > 0) left -= countLineBytes(own.lines) + (headings[at] ?? 0);
    return own;
  });
  left += kept.reduce((sum, bytes) => sum + bytes, 0);
  const sharing = blocks.flatMap((block, at): Sharing[] => {
    const full = block.weight === null ? 0 : measureFull(block);
    return full === 0 ? [] : [{ at, block, full, weight: block.weight ?? 0, heading: headings[at] ?? 0 }];
  });
  for (const { at, own } of shareBlocks(sharing, left)) printed[at] = own;
  return printed;
}

interface Sharing extends Share {
  at: number;
  block: Block;
  heading: number;
}

/** A section that would show nothing gives its room to the others, the least important one first. */
function shareBlocks(sharing: readonly Sharing[], room: number): { at: number; own: Printed }[] {
  const left = room - sharing.reduce((sum, { heading }) => sum + heading, 0);
  const allowed = shareWithLeast(sharing, left);
  const isShown = sharing.map(({ block }, index) => block.print(allowed[index] ?? 0).lines.length > 0);
  const [weakest] = sharing
    .filter((_, index) => isShown[index] !== true)
    .sort((a, b) => a.weight - b.weight || b.at - a.at);
  if (weakest !== undefined)
    return shareBlocks(
      sharing.filter((other) => other !== weakest),
      room,
    );
  return shareRest(sharing, allowed, left);
}

function shareWithLeast(sharing: readonly Sharing[], bytes: number): number[] {
  const least = sharing.map(({ block, full }) => Math.min(full, block.least ?? 0));
  const rest = bytes - least.reduce((sum, own) => sum + own, 0);
  const more = shareOut(
    sharing.map(({ full, weight }, index) => ({ full: full - (least[index] ?? 0), weight })),
    rest,
  );
  return least.map((own, index) => own + (more[index] ?? 0) + Math.min(0, rest));
}

function shareRest(
  sharing: readonly Sharing[],
  shares: readonly number[],
  left: number,
): { at: number; own: Printed }[] {
  let allowed = shares;
  const print = (bytes: readonly number[]): Printed[] => sharing.map(({ block }, at) => block.print(bytes[at] ?? 0));
  let printed = print(allowed);
  for (let round = 1; round < ROUNDS; round++) {
    const used = printed.map(({ lines }) => countLineBytes(lines));
    const unused = left - used.reduce((sum, bytes) => sum + bytes, 0);
    if (unused < WORTH_ANOTHER_ROUND) break;
    const hungry = sharing.map(({ full, weight }, index) => ({ full: full - (used[index] ?? 0), weight }));
    const more = shareOut(hungry, unused);
    const next = used.map((bytes, index) => Math.max(allowed[index] ?? 0, bytes + (more[index] ?? 0)));
    if (next.every((bytes, index) => bytes === allowed[index])) break;
    const fuller = print(next);
    if (fuller.reduce((sum, { lines }) => sum + countLineBytes(lines), 0) > left) break;
    allowed = next;
    printed = fuller;
  }
  return sharing.map(({ at }, index) => ({ at, own: printed[index] ?? NOTHING }));
}

const MARGINS = [1, 1.1, 1.25, 1.5, 2];

/** The bytes in which a block prints all that it has to say: it may need a margin to share out among its parts. */
function measureFull(block: Block): number {
  const whole = countLineBytes(block.print(block.most).lines);
  if (whole === 0) return 0;
  const enough = MARGINS.map((margin) => Math.min(block.most, Math.ceil(whole * margin) + 1)).find(
    (bytes) => countLineBytes(block.print(bytes).lines) === whole,
  );
  return enough ?? block.most;
}
