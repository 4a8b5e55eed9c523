import { ASCII, listCases, packTrigram } from './prefilter.ts';
import { hasPlaceholders } from './redactor.ts';
import type { Span } from './rule.ts';

/** A part of a text that a rule of the preset could look at. */
export interface Place {
  start: number;
  end: number;
}

const KEY_BEGINNING = '-----begin';
const WORD_CHARACTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789_'];

/**
 * By rule of the preset, what is in everything that it finds, in small letters and each at least four characters long. A
 * test sees to it that no rule is missing.
 */
export const PRESET_LITERALS: ReadonlyMap<string, readonly string[]> = new Map([
  ['1password', ['ops_ey']],
  ['anthropic', ['sk-ant-api0']],
  ['aws', ['access_key', 'accesskey']],
  ['basicauth', ['p://', 's://']],
  ['database-connection-string', ['b://', 'v://', 'l://', 'x://', 's://']],
  ['databricks', ['dapi']],
  ['docker', ['dckr_pat_']],
  ['figma', ['figd_']],
  ['github', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_']],
  ['gitlab', ['glpat-']],
  ['grafana', ['glc_', 'glsa_']],
  ['groq', ['gsk_']],
  ['hashicorp-vault', ['hvs.', 'hvb.', 'hvr.']],
  ['huggingface', WORD_CHARACTERS.map((char) => `hf_${char}`)],
  ['linear', ['lin_api_']],
  ['notion', ['ntn_']],
  ['npm', ['npm_', '_authtoken=', ':x-oauth-basic@']],
  ['openai', ['t3blbkfj']],
  ['privatekey', [KEY_BEGINNING]],
  ['sendgrid', WORD_CHARACTERS.map((char) => `sg.${char}`)],
  ['shopify', ['shppa_', 'shpca_', 'shpat_', 'shpss_']],
  ['slack', ['xoxb-', 'xoxp-', 'xapp-', 'xoxa-', 'xoxo-', 'xoxr-', 'hooks.slack.com']],
  ['vercel', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_']],
]);

/** How far what is found reaches before its literal, behind it, and behind the first line of a private key. */
const BEFORE = 320;
const AFTER = 1400;
const AFTER_KEY = 11_000;

interface LiteralPart {
  literal: string;
  /** Where in the literal the three characters stand. */
  offset: number;
}

interface LiteralTable {
  signs: ReadonlyMap<number, readonly LiteralPart[]>;
  /** One bit for every three characters: whether there is a sign for them. */
  hasSign: Uint8Array;
}

let literalTable: LiteralTable | null = null;

function buildTable(): LiteralTable {
  const signs = new Map<number, LiteralPart[]>();
  const hasSign = new Uint8Array(1 << 18);
  for (const literal of new Set([...PRESET_LITERALS.values()].flat())) {
    for (const offset of [0, 1]) {
      for (const three of listCases(literal.slice(offset, offset + 3))) {
        const key = packTrigram(three, 0);
        hasSign[key >> 3] = (hasSign[key >> 3] ?? 0) | (1 << (key & 7));
        signs.set(key, [...(signs.get(key) ?? []), { literal, offset }]);
      }
    }
  }
  return { signs, hasSign };
}

const WINDOW = 1 << 16;
const OVERLAP = 2;

/** Every place that holds a literal of the preset with its surroundings, in order, none meeting another. */
export function findPresetRanges(text: string): Place[] {
  literalTable ??= buildTable();
  const { signs, hasSign } = literalTable;
  const places: Place[] = [];
  const bytes = Buffer.allocUnsafe(Math.min(WINDOW, text.length));
  for (let from = 0; from < text.length - OVERLAP; from += WINDOW - OVERLAP) {
    const last = bytes.write(text.slice(from, from + WINDOW), 'latin1') - OVERLAP;
    // A literal of four characters holds two times three: looking at every second place meets one of them.
    for (let i = 0; i < last; i += 2) {
      const key =
        ((bytes[i] ?? 0) & ASCII) |
        (((bytes[i + 1] ?? 0) & ASCII) << 7) |
        (((bytes[i + 2] ?? 0) & ASCII) << 14);
      if (((hasSign[key >> 3] ?? 0) & (1 << (key & 7))) === 0) continue;
      for (const sign of signs.get(key) ?? []) addPlace(places, findPlace(text, from + i, sign));
    }
  }
  return places;
}

const USER_INFO = /[^\s@]{1,560}@/y;

function findPlace(text: string, at: number, { literal, offset }: LiteralPart): Place | null {
  const start = at - offset;
  const end = start + literal.length;
  if (start < 0 || text.slice(start, end).toLowerCase() !== literal) return null;
  if (literal.endsWith('://')) {
    USER_INFO.lastIndex = end;
    if (!USER_INFO.test(text)) return null;
  }
  const after = literal === KEY_BEGINNING ? AFTER_KEY : AFTER;
  return { start: Math.max(0, start - BEFORE), end: Math.min(text.length, end + after) };
}

function addPlace(places: Place[], place: Place | null): void {
  if (place === null) return;
  const last = places.at(-1);
  if (last === undefined || place.start > last.end) places.push(place);
  else last.end = Math.max(last.end, place.end);
}

/** Those who made the shapes of the preset look at others: what they find besides is taken out as well. */
export async function findBySecretlint(text: string): Promise<Span[]> {
  const places = findPresetRanges(text);
  return places.length === 0 ? [] : await lintPlaces(text, places);
}

const BETWEEN = '\n';

/** The preset costs more for each text than for its length: all places are looked at as one. */
async function lintPlaces(text: string, places: readonly Place[]): Promise<Span[]> {
  const lint = await loadPreset();
  const found = await lint(places.map(({ start, end }) => text.slice(start, end)).join(BETWEEN));
  const spans: Span[] = [];
  let offset = 0;
  for (const place of places) {
    const next = offset + place.end - place.start + BETWEEN.length;
    for (const { kind, range } of found) {
      if (range[0] < offset || range[0] >= next) continue;
      const start = range[0] - offset + place.start;
      const end = Math.min(range[1] - offset + place.start, place.end);
      if (end > start && !hasPlaceholders(text.slice(start, end))) spans.push({ kind, start, end });
    }
    offset = next;
  }
  return spans;
}

interface Found {
  kind: string;
  range: readonly [start: number, end: number];
}

type Lint = (content: string) => Promise<Found[]>;

type PresetRule = Parameters<
  Parameters<typeof import('@secretlint/secretlint-rule-preset-recommend').creator.create>[0]['registerRule']
>[0];
type Source = Parameters<NonNullable<ReturnType<PresetRule['create']>['file']>>[0];

/** One lets a text switch the others off, one judges a file by its name. */
const LEFT_OUT = new Set(['@secretlint/secretlint-rule-filter-comments', '@secretlint/secretlint-rule-gcp']);

let loaded: Promise<Lint> | null = null;

/** Loading costs more than most texts do. */
async function loadPreset(): Promise<Lint> {
  loaded ??= import('@secretlint/secretlint-rule-preset-recommend').then(({ creator }) => {
    const rules: PresetRule[] = [];
    const registerRule = (rule: PresetRule): void => {
      if (!LEFT_OUT.has(rule.meta.id)) rules.push(rule);
    };
    creator.create({ sharedOptions: {}, registerRule }, {});
    return (content) => lintContent(content, rules);
  });
  return await loaded;
}

/** The rules are run as secretlint runs them, but without the times that it notes of each: these cost more than the rules. */
async function lintContent(content: string, rules: readonly PresetRule[]): Promise<Found[]> {
  const found: Found[] = [];
  const source = describeSource(content);
  for (const rule of rules) {
    const kind = nameKind(rule.meta.id);
    const handler = rule.create(
      {
        sharedOptions: {},
        createTranslator: () => (messageId, data) => ({ message: '', messageId: String(messageId), data }),
        report: ({ range }) => found.push({ kind, range }),
        // Only the rule that is left out asks for it.
        ignore: refuse,
      },
      {},
    );
    await handler.file?.(source);
  }
  return found;
}

const NAME = 'text.txt';

function describeSource(content: string): Source {
  return {
    hasBOM: false,
    content,
    filePath: NAME,
    physicalFilePath: NAME,
    contentType: 'text',
    ext: '.txt',
    getFilePath: () => NAME,
    getPhysicalFilePath: () => NAME,
    locationToRange: refuse,
    rangeToLocation: refuse,
    positionToIndex: refuse,
    indexToPosition: refuse,
  };
}

function refuse(): never {
  throw new Error('a rule of the preset asks for what it is not given');
}

/** `@secretlint/secretlint-rule-slack` is of the kind `slack`. */
function nameKind(rule: string): string {
  return (
    rule
      .replace(/^.*secretlint-rule-/, '')
      .replace(/[^a-z0-9-]/g, '')
      .slice(0, 40) || 'secret'
  );
}
