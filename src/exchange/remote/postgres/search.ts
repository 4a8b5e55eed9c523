import * as v from 'valibot';
import type { FactKind } from '../../../model/fact.ts';
import { FACT_KINDS } from '../../../model/fact-kinds.ts';
import { isProgressNote } from '../../../model/fact-roles.ts';
import type { Handover } from '../../../model/handover.ts';
import { compareCodeUnits } from '../../../model/hash.ts';
import { Timestamp } from '../../../model/scalars.ts';
import { cleanLine, cutToBytes } from '../../../model/text.ts';
import { excerpt, type ParsedQuery, parseQuery, type QueryWord } from '../../../search/query.ts';
import { type Exactness, fuseTexts, listTerms, type TermStats, weighWord } from '../../../search/rank.ts';
import { foldText, isUnspaced, listJoined, pairsOf, splitWords, stemWord, TAG_SIGN } from '../../../search/tokens.ts';
import { asTimestamp, type Database, type SqlValue } from './connection.ts';
import type { PostgresSettings } from './settings.ts';

/** A body as the server describes it: unsigned and unchecked, unlike what a sync pulls. */
export interface TeamEntry {
  /** Of the body, for `readBodies`. */
  name: string;
  project: string;
  handover: string;
  workedAt: string;
  bytes: number;
  /** Null where the team's handovers are encrypted. */
  title: string | null;
  agent: string | null;
}

export interface TeamHit extends TeamEntry {
  /** One of its facts, or an excerpt of title and summary. */
  text: string;
  fact: { id: string; kind: FactKind } | null;
  score: number;
  exact: Exactness;
}

export interface TeamQuery {
  text: string;
  project?: string | undefined;
  agent?: string | undefined;
  sinceMs?: number | undefined;
  limit: number;
}

export interface TeamCatalog {
  /** Newest by work first. */
  list(filter: Pick<TeamQuery, 'project' | 'agent' | 'limit'>): Promise<TeamEntry[]>;
  /** Those whose id begins like this. */
  find(idPrefix: string): Promise<TeamEntry[]>;
  search(query: TeamQuery): Promise<TeamHit[]>;
}

const Time = v.pipe(v.string(), Timestamp);
const Entry = [
  ...[v.pipe(v.string(), v.maxLength(100)), v.pipe(v.string(), v.maxLength(100)), v.pipe(v.string(), v.maxLength(30))],
  ...[Time, v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number))],
  ...[v.nullable(v.pipe(v.string(), v.maxLength(2048))), v.nullable(v.pipe(v.string(), v.maxLength(128)))],
] as const;
const EntryRow = v.pipe(v.tuple([...Entry]), v.transform(readEntry));
const FoundRow = v.pipe(
  v.tuple([...Entry, v.string(), v.pipe(v.string(), v.regex(/^\d{1,3}$/), v.transform(Number))]),
  v.transform((row) => ({
    ...readEntry([row[0], row[1], row[2], row[3], row[4], row[5], row[6]]),
    lines: row[7],
    place: row[8],
  })),
);
type Found = v.InferOutput<typeof FoundRow>;

type EntryColumns = [string, string, string, string, number, string | null, string | null];

function readEntry([project, name, handover, workedAt, bytes, title, agent]: EntryColumns): TeamEntry {
  const clean = (text: string | null): string | null => (text === null ? null : cleanLine(text));
  return { name, project, handover, workedAt, bytes, title: clean(title), agent: clean(agent) };
}

const COLUMNS = `project, name, handover, ${asTimestamp('worked_at')}, size, title, agent`;
const MOST_FOUND = 20;
/** How many candidates are fetched that have all words, and, if those are few, each word. More would hardly change the first hits. */
const WITH_ALL = 60;
const WITH_ONE = 30;
const ENOUGH = 40;
const MAX_ANSWER = 24 * 1024 * 1024;

export function openTeamCatalog(database: Database, { team, schema }: PostgresSettings): TeamCatalog {
  const select = async (conditions: string, values: readonly SqlValue[], limit: number): Promise<TeamEntry[]> =>
    await database.ask({
      sql: `SELECT ${COLUMNS} FROM "${schema}".bodies WHERE team = $1 AND size IS NOT NULL ${conditions}`,
      values: [team, ...values],
      row: EntryRow,
      maxRows: limit,
      isRepeatable: true,
    });
  const gather = async (query: TeamQuery, expressions: readonly string[], most: number): Promise<Found[]> => {
    const since = query.sinceMs === undefined ? null : new Date(query.sinceMs).toISOString();
    return await database.ask({
      sql: `SELECT ${COLUMNS}, lines, place FROM unnest($5::text[]) WITH ORDINALITY AS q (expression, place),
              LATERAL "${schema}".find_newest($1, $2, $3, $4::timestamptz, expression::tsquery, $6::integer) b`,
      values: [team, query.project ?? null, query.agent ?? null, since, expressions, most],
      row: FoundRow,
      maxRows: most * expressions.length,
      maxBytes: MAX_ANSWER,
      isRepeatable: true,
    });
  };
  return {
    list: async ({ project, agent, limit }) => {
      const values: SqlValue[] = [];
      const where = [
        project === undefined ? '' : `AND project = $${values.push(project) + 1}`,
        agent === undefined ? '' : `AND lower(agent) = lower($${values.push(agent) + 1})`,
      ].join(' ');
      return await select(
        `${where} ORDER BY worked_at DESC, name DESC LIMIT $${values.push(limit) + 1}`,
        values,
        limit,
      );
    },
    find: async (idPrefix) =>
      await select(
        `AND handover >= $2 AND handover < $3 ORDER BY handover DESC LIMIT ${MOST_FOUND}`,
        [idPrefix, `${idPrefix}~`],
        MOST_FOUND,
      ),
    search: async (query) => {
      const parsed = parseQuery(query.text);
      const expressions = parsed.words.map(expressWord);
      if (expressions.length === 0) return [];
      const all = await gather(query, [expressions.join(' & ')], WITH_ALL);
      const isEnough = all.length >= Math.max(ENOUGH, query.limit);
      // A rare word also matches the beginnings of longer ones.
      const wider = parsed.words.map((word, place) =>
        word.isUnspaced || word.stem.length < 3 ? (expressions[place] ?? '') : `${quoteLexeme(word.stem)}:*`,
      );
      const single = isEnough ? [] : await gather(query, wider, WITH_ONE);
      return rankFound(parsed, [...all, ...single], countWords(parsed, single)).slice(0, query.limit);
    },
  };
}

/** Estimates how rare each word is: the newest candidates with a common word span a short time. */
function countWords({ words }: ParsedQuery, found: readonly Found[]): TermStats[] {
  const times = found.map(({ workedAt }) => Date.parse(workedAt));
  const span = Math.max(1, Math.max(...times) - Math.min(...times));
  return words.map((word, at) => {
    const own = found.filter(({ place }) => place === at + 1).map(({ workedAt }) => Date.parse(workedAt));
    const ownSpan = own.length < WITH_ONE ? span : Math.max(1, Math.max(...own) - Math.min(...own));
    const texts = Math.round((own.length * span) / ownSpan);
    return { word, texts, weight: weighWord(Math.min(texts, ESTIMATED_TOTAL), ESTIMATED_TOTAL), corrections: [] };
  });
}

const ESTIMATED_TOTAL = 1_000_000;

/** Ranks the candidates' lines as the search of a store does. A fact of several handovers is shown once, from the newest. */
function rankFound(parsed: ParsedQuery, found: readonly Found[], known: readonly TermStats[]): TeamHit[] {
  const documents = new Map<string, { entry: Found; line: StoredLine }>();
  const newestFirst = [...found].sort((a, b) => compareCodeUnits(`${b.workedAt} ${b.name}`, `${a.workedAt} ${a.name}`));
  for (const entry of newestFirst)
    for (const line of readLines(entry.lines)) {
      const key = `${entry.project} ${line.fact?.id ?? entry.name}`;
      if (!documents.has(key)) documents.set(key, { entry, line });
    }
  const texts = [...documents].map(([key, { line }]) => ({ key, text: line.text }));
  const terms = listTerms(parsed, known);
  return fuseTexts({ parsed, known }, texts).flatMap(({ key, score, exact }) => {
    const document = documents.get(key);
    if (document === undefined) return [];
    const { lines: _lines, place: _place, ...entry } = document.entry;
    const { text, fact } = document.line;
    return [{ ...entry, text: cleanLine(excerpt(text, terms)), fact, score, exact }];
  });
}

interface StoredLine {
  text: string;
  fact: TeamHit['fact'];
}

const MAX_LINES_BYTES = 128 * 1024;
const MAX_SUMMARY_BYTES = 16 * 1024;
const FACT_LINE = /^([\w-]{1,40})\t([a-z_]{1,24})\t(.+)$/;

function readLines(lines: string): StoredLine[] {
  const [first = '', ...facts] = lines.split('\n');
  return [
    { text: first, fact: null },
    ...facts.flatMap((line) => {
      const [, id, named, text] = FACT_LINE.exec(line) ?? [];
      const kind = FACT_KINDS.find((each) => each === named);
      return id === undefined || kind === undefined || text === undefined ? [] : [{ text, fact: { id, kind } }];
    }),
  ];
}

/** What is stored beside a body that is not encrypted: title and summary in the first line, a fact in each other, and all words. */
export function describeTexts(handover: Handover): { title: string; agent: string; lines: string; words: string } {
  const facts = handover.facts.filter((fact) => !isProgressNote(fact));
  const oneLine = (text: string): string => text.replaceAll('\u0000', ' ').replace(/\s+/g, ' ').trim();
  const { title, summary } = handover;
  const head = oneLine(summary === title ? title : `${title} ${cutToBytes(summary, MAX_SUMMARY_BYTES)}`);
  let room = MAX_LINES_BYTES - Buffer.byteLength(head);
  const lines = [head];
  for (const { id, kind, text } of facts) {
    const line = `${id}\t${kind}\t${oneLine(text)}`;
    room -= Buffer.byteLength(line) + 1;
    if (room >= 0) lines.push(line);
  }
  const texts = readLines(lines.join('\n')).map(({ text }) => text);
  return {
    title: oneLine(title),
    agent: oneLine(handover.session.agent),
    lines: lines.join('\n'),
    words: listLexemes(texts).map(quoteLexeme).join(' '),
  };
}

/** Below the limits of PostgreSQL for one lexeme and for a tsvector. */
const MAX_LEXEME_BYTES = 256;
const MAX_LEXEMES_BYTES = 256 * 1024;

/** The words that texts are found by: stems as in a store's own index, joined names, and letter pairs of unspaced scripts. */
function listLexemes(texts: readonly string[]): string[] {
  const lexemes = new Set<string>();
  for (const text of texts) {
    const folded = foldText(text);
    for (const word of splitWords(folded)) {
      if (!isUnspaced(word)) lexemes.add(stemWord(word));
      else for (const pair of [...pairsOf(word), ...[...word].slice(-1)]) lexemes.add(`${TAG_SIGN}${pair}`);
    }
    for (const joined of listJoined(folded)) lexemes.add(joined);
  }
  let room = MAX_LEXEMES_BYTES;
  return [...lexemes].filter((lexeme) => {
    const size = Buffer.byteLength(lexeme);
    if (size === 0 || size > MAX_LEXEME_BYTES) return false;
    room -= size + 4;
    return room >= 0;
  });
}

/** Quoted, so that nothing in it is syntax. */
function quoteLexeme(lexeme: string): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

function expressWord({ text, stem, isUnspaced: runs }: QueryWord): string {
  if (!runs) return quoteLexeme(stem);
  const pairs = pairsOf(text).map((pair) => quoteLexeme(`${TAG_SIGN}${pair}`));
  return [...text].length === 1 ? `${pairs[0]}:*` : `(${pairs.join(' & ')})`;
}
