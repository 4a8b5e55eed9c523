import { HandoverError } from '../../errors.ts';
import type { Fact, FactKind } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { baseName } from '../../model/paths.ts';
import { countUtf8Bytes, findContentWords, revealControls } from '../../model/text.ts';
import type { ChangesSince } from '../../model/workspace.ts';
import { type Put, placeFixed } from './fixed.ts';
import { LONGEST_LEFT_OUT, printFrame, printLeftOut } from './frame.ts';
import { readGoal, steer } from './goal.ts';
import { countLineBytes, oneLine, printFact, QUOTE, sourceOf } from './lines.ts';
import { continueRequests, shortenMessage } from './messages.ts';
import { openPage, type Page } from './page.ts';
import { absorb, fillPage, type LineCandidate, type Market } from './pool.ts';
import type { Reader } from './reader.ts';
import { orderOf, sectionOf } from './sections.ts';
import { BYTES_PER_TOKEN, type Material, type Weighed } from './weighed.ts';
import { weighFact } from './weight.ts';

export const DEFAULT_BUDGET = 2000;
export const SMALLEST_BUDGET = 256;

export interface Brief {
  text: string;
  tokens: number;
  /** Facts that are not in it. */
  leftOut: Fact[];
}

export function countTokens(text: string): number {
  return Math.ceil(countUtf8Bytes(text) / BYTES_PER_TOKEN);
}

export interface BriefOptions {
  /** In tokens. */
  budget?: number;
  /** What the next session is to do: it decides what else is worth telling. */
  goal?: string;
  /** What happened to the work since, where somebody looked. */
  changes?: ChangesSince;
}

/**
 * Renders a handover for one reader within a hard budget. The same handover, reader and budget give the same bytes,
 * anywhere and at any time. All text from the handover stands on lines that begin with the quote mark, so that none of it
 * can pose as the brief's own words or as the user. What is worth less than its bytes is left out, even if there is room.
 */
export function compileBrief(handover: Handover, reader: Reader, options: BriefOptions = {}): Brief {
  const { budget = DEFAULT_BUDGET } = options;
  const goal = readGoal(options.goal ?? '');
  if (budget < SMALLEST_BUDGET) {
    throw new HandoverError('HANDOVER_BUDGET_TOO_SMALL', `a brief needs at least ${SMALLEST_BUDGET} tokens`, {
      hint: `Give --budget ${SMALLEST_BUDGET} or more.`,
    });
  }
  const limit = Math.min(budget * BYTES_PER_TOKEN, reader.maxCharacters ?? Number.POSITIVE_INFINITY);
  const frame = printFrame(handover, reader, citesSources(budget));
  const page = openPage(limit - countLineBytes(frame.head) - countLineBytes(frame.foot) - LONGEST_LEFT_OUT);
  const facts = handover.facts.map((fact): Weighed => {
    const weight = weighFact(fact);
    return {
      fact,
      weight: goal === null ? weight : steer(fact, weight, goal),
      section: sectionOf(fact, weight),
    };
  });
  const shown = layOut(page, handover, { facts, budget, goal, changes: options.changes ?? null });
  const leftOut = handover.facts.filter((fact) => !shown.has(fact.id));
  const text = [...frame.head, ...page.print(), ...frame.foot, ...printLeftOut(handover, leftOut), ''].join(
    '\n',
  );
  return { text, tokens: countTokens(text), leftOut };
}

/** First what must be there, then what is worth most for its bytes. The ids of the facts that got in. */
function layOut(page: Page, handover: Handover, material: Material): Set<string> {
  const { facts, budget } = material;
  const shown = new Set<string>();
  const placed: string[] = [];
  const put: Put = (section, lines, order = 0) => {
    const entry = page.add(section, { lines, order, file: null, told: null });
    if (entry !== null) placed.push(...lines);
    return entry;
  };
  const files = placeFixed(put, handover, material, shown);
  const market: Market = { names: collectNames(facts), words: new Set() };
  coverText(market, placed.join('\n'));
  const lastWords = oneLine(page.textOf('stopped'));
  const isTold = ({ fact }: Weighed): boolean =>
    fact.trust === 'quoted' && fact.origin === 'agent' && lastWords.includes(oneLine(fact.text));
  const rest = facts.filter(
    (item) => !shown.has(item.fact.id) && item.fact.status !== 'cancelled' && !isTold(item),
  );
  const candidates = [...rest.map((item) => toCandidate(item, budget)), ...continueRequests(page, facts)];
  const options = {
    floor: floorOf(budget),
    maxFiles: Math.max(10, Math.floor(budget / 160)),
  };
  const standing = files.map(({ entry, weight }) => ({ entry, symbols: [...weight.names.keys()] }));
  const taken = fillPage(page, { candidates, standing }, market, options);
  for (const [index, { fact }] of rest.entries()) {
    const candidate = candidates[index];
    if (candidate !== undefined && taken.has(candidate)) shown.add(fact.id);
  }
  return shown;
}

const SMALLEST_CITING = 1500;

/** A small brief has better uses for its bytes than where each line is from; `show --events` tells. */
function citesSources(budget: number): boolean {
  return budget >= SMALLEST_CITING;
}

/** Points for a byte below which a line is noise. Who asks for more than the usual takes lines of less value too. */
function floorOf(budget: number): number {
  return Math.min(1, (DEFAULT_BUDGET / budget) ** 3);
}

/** Below this many tokens, what else the user said yields to the work itself. */
const ROOM_FOR_MESSAGES = 1600;

function toCandidate({ fact, weight, section }: Weighed, budget: number): LineCandidate {
  const isFile = fact.kind === 'file';
  const cite = citesSources(budget);
  const share = section === 'messages' ? Math.min(1, budget / ROOM_FOR_MESSAGES) : 1;
  const text = section === 'messages' ? shortenMessage(fact.text) : null;
  const lines =
    text === null ? printFact(fact, weight, cite) : [`${QUOTE}${text}${cite ? sourceOf(fact) : ''}`];
  return {
    kind: 'line',
    section,
    lines,
    bytes: countLineBytes(lines),
    order: orderOf(section, fact, weight),
    points: share * (weight.wordPoints > 0 ? weight.lasting : weight.points),
    names: isFile ? [] : [...weight.names.keys()],
    words: isFile ? [] : findContentWords(fact.text),
    wordPoints: share * weight.wordPoints,
    file: isFile ? revealControls(baseName(fact.text)) : null,
    told: STANDING.has(fact.kind) ? null : (text ?? oneLine(fact.text)).replace(/…$/, ''),
    symbols: isFile ? [...weight.names.keys()] : [],
  };
}

/** What is listed for itself, whatever else names it. */
const STANDING: ReadonlySet<FactKind> = new Set(['file', 'command', 'check', 'task', 'running']);

function collectNames(facts: readonly Weighed[]): Map<string, number> {
  const names = new Map<string, number>();
  for (const { weight } of facts)
    for (const [name, points] of weight.names) names.set(name, Math.max(points, names.get(name) ?? points));
  return names;
}

function coverText(market: Market, text: string): void {
  absorb(market, {
    names: [...market.names.keys()].filter((name) => text.includes(name)),
    words: findContentWords(text),
  });
}
