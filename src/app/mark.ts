import { HandoverError, notFoundError } from '../errors.ts';
import type { Mark } from '../handover/marks.ts';
import type { Fact } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { cleanLine, cutAtWord, quoteInput } from '../model/text.ts';
import { describePlace } from '../platform/project.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import type { Catalog, CatalogRow } from '../store/catalog.ts';
import { requireHandover } from '../store/find-handover.ts';
import { readIntact } from '../store/handovers.ts';
import { markFact } from '../store/marks.ts';
import { normaliseLetters } from './capture/match-fact.ts';
import { type Context, findStore, withCatalog } from './context.ts';
import { findId } from './find-handover.ts';

type FactInHandover = { handover: Handover; fact: Fact };

interface MarkRequest {
  mark: Mark['mark'];
  /** The fact: its id, the beginning of it, or its words. */
  words: string;
  /** The handover that has it; without one, the newest of the project that has it. */
  named?: string | undefined;
  because?: string | undefined;
  by: 'human' | 'agent';
}

/** Marks a fact, also in prepared briefs. `isNew` is false when it already had this mark. */
export async function markNamed(context: Context, request: MarkRequest): Promise<FactInHandover & { isNew: boolean }> {
  const { mark, words, named, because, by } = request;
  const { machine } = context;
  const found = await findFact(context, words, named);
  const redact = (text: string): string =>
    openRedactor(machine, { folder: machine.cwd, makesKey: true }).redactText(text, { byHuman: true });
  const store = findStore(context);
  const given = { mark, because: because === undefined ? null : redact(because), by };
  const isNew = markFact(store, found, given);
  if (mark === 'resolved')
    for (const fact of listOfSameRun(found)) markFact(store, { handover: found.handover, fact }, given);
  if (isNew) (await import('./automation/prepare-briefs.ts')).refreshPreparedBriefs(store, found.handover.project.id);
  return { ...found, isNew };
}

/** A check that failed is several facts: the run, and each line of what it said. Who resolves one of them means all. */
function listOfSameRun({ handover, fact }: FactInHandover): Fact[] {
  const run = nameRun(fact);
  return run === null ? [] : handover.facts.filter((other) => other.id !== fact.id && nameRun(other) === run);
}

function nameRun({ kind, text, status, detail }: Fact): string | null {
  if (kind === 'check') return status === 'failed' ? text : null;
  return kind === 'error' && typeof detail?.run === 'string' ? detail.run : null;
}

const ROWS_SEARCHED = 200;

/** The fact in the named handover, or in the newest handover of this worktree that has it, or else of this project. */
export async function findFact(context: Context, words: string, named?: string): Promise<FactInHandover> {
  const store = findStore(context);
  if (named !== undefined) {
    const handover = requireHandover(store, await findId(store, named));
    return { handover, fact: requireFact(handover, words) };
  }
  const { project, workspace } = describePlace('.', context.machine);
  const find = async (catalog: Catalog, accepts: (row: CatalogRow) => boolean): Promise<Handover | null> => {
    let searched = 0;
    for await (const row of catalog.rows({ project: { id: project.id } })) {
      if (!accepts(row)) continue;
      const candidate = readIntact(store, row.id);
      if (candidate !== null && matchFacts(candidate, words).length > 0) return candidate;
      if (++searched === ROWS_SEARCHED) break;
    }
    return null;
  };
  const isHere = ({ root }: CatalogRow): boolean => root === workspace.root;
  const handover = await withCatalog(
    context,
    store,
    async (catalog) => (await find(catalog, isHere)) ?? (await find(catalog, (row) => !isHere(row))),
  );
  if (handover !== null) return { handover, fact: requireFact(handover, words) };
  const hint = 'See the facts and their ids: handover show; for another project add --in HANDOVER.';
  throw notFoundError(`no fact of ${project.name} matches ${quoteInput(words)}`, hint);
}

/** Fewer are only taken for the whole text. */
const MIN_LETTERS = 4;

/** By id, the beginning of one, or text as a brief shows it, whole or in part. Facts with exactly this text win. */
function matchFacts({ facts }: Handover, words: string): Fact[] {
  const word = words.trim();
  if (/^f(?:-|$)/i.test(word)) return facts.filter((fact) => fact.id.startsWith(word.toLowerCase()));
  const line = word.replace(BRIEF_PREFIX, '').replace(BRIEF_SUFFIX, '');
  const matching = matchText(facts, line);
  return matching.length > 0 ? matching : matchText(facts, line.replace(KIND_AND_STATUS, ''));
}

/** What a brief puts around the text of a fact. */
const BRIEF_PREFIX =
  /^[>\s-]*(?:\((?:imported(?:, said by [^()]*)?|by the agent), unverified\)\s*|Next, stated by hand: )?/;
const BRIEF_SUFFIX = /(?:…|\s@\d+)+\s*$/;
const KIND_AND_STATUS = /^(?:[a-z]+: )?(?:\[[^\]]*\] )?/;

function matchText(facts: readonly Fact[], words: string): Fact[] {
  const letters = normaliseLetters(words);
  if (letters === '') return [];
  const exact = facts.filter((fact) => normaliseLetters(fact.text) === letters);
  if (exact.length > 0 || letters.length < MIN_LETTERS) return exact;
  return facts.filter((fact) => normaliseLetters(fact.text).includes(letters));
}

const MAX_CANDIDATES = 10;
const MAX_SHOWN_BYTES = 60;

/** The one fact of a handover that matches. */
export function requireFact(handover: Handover, words: string): Fact {
  const matching = matchFacts(handover, words);
  const [only, ...others] = matching;
  const { id } = handover;
  if (only === undefined)
    throw notFoundError(`no fact of ${id} matches ${quoteInput(words)}`, `See them all: handover show ${id}`);
  if (others.length === 0) return only;
  const shown = matching.slice(0, MAX_CANDIDATES);
  const lines = shown.map(({ id, kind, text }) => `\n  ${id}  ${kind} ${cutAtWord(cleanLine(text), MAX_SHOWN_BYTES)}`);
  const more = matching.length > shown.length ? '\n  …' : '';
  const message = `${quoteInput(words)} matches ${matching.length} facts:${lines.join('')}${more}`;
  throw new HandoverError('HANDOVER_ID_AMBIGUOUS', message, {
    hint: 'Use one of these ids.',
    data: { candidates: shown.map((fact) => fact.id) },
  });
}
