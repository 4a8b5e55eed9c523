import { ASCII, listCases, packTrigram } from './prefilter.ts';
import { hasPlaceholders } from './redactor.ts';
import type { Span, TextRange } from './rule.ts';

const KEY_BEGINNING = '-----begin';
const WORD_CHARACTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789_'];

/** By rule of secretlint's preset, literals that all its matches contain: in lower case, of at least four characters. */
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

/** How far a match reaches before its literal, after it, and after the first line of a private key. */
const BEFORE = 320;
const AFTER = 1400;
const AFTER_KEY = 11_000;

/** By trigram, the literals that have it at their beginning (`offset` 0) or one character later (1). */
type LiteralTable = ReadonlyMap<number, readonly { literal: string; offset: number }[]>;

/** The table, with one bit for every trigram that is in it. Built for the first text. */
let built: { literals: LiteralTable; bits: Uint8Array } | null = null;

function buildTable(): { literals: LiteralTable; bits: Uint8Array } {
  const literals = new Map<number, { literal: string; offset: number }[]>();
  const bits = new Uint8Array(1 << 18);
  for (const literal of new Set([...PRESET_LITERALS.values()].flat()))
    for (const offset of [0, 1])
      for (const trigram of listCases(literal.slice(offset, offset + 3))) {
        const key = packTrigram(trigram, 0);
        bits[key >> 3] = (bits[key >> 3] ?? 0) | (1 << (key & 7));
        literals.set(key, [...(literals.get(key) ?? []), { literal, offset }]);
      }
  return { literals, bits };
}

const WINDOW = 1 << 16;
const OVERLAP = 2;

/** Every literal of the preset in a text with its surroundings, in order and without overlaps. */
function findPresetRanges(text: string): TextRange[] {
  built ??= buildTable();
  const { literals, bits } = built;
  const ranges: TextRange[] = [];
  const bytes = Buffer.allocUnsafe(Math.min(WINDOW, text.length));
  for (let from = 0; from < text.length - OVERLAP; from += WINDOW - OVERLAP) {
    const last = bytes.write(text.slice(from, from + WINDOW), 'latin1') - OVERLAP;
    // A literal of four characters has two trigrams: every second place meets one of them.
    for (let i = 0; i < last; i += 2) {
      const key =
        (((bytes[i] ?? 0) & ASCII) << 7) | ((bytes[i + 1] ?? 0) & ASCII) | (((bytes[i + 2] ?? 0) & ASCII) << 14);
      if (((bits[key >> 3] ?? 0) & (1 << (key & 7))) === 0) continue;
      for (const { literal, offset } of literals.get(key) ?? [])
        addRange(ranges, findRange(text, from + i - offset, literal));
    }
  }
  return ranges;
}

const USER_INFO = /[^\s@]{1,560}@/y;

/** The surroundings of a literal, if it is at `start` and a URL behind `://` has credentials. */
function findRange(text: string, start: number, literal: string): TextRange | null {
  const end = start + literal.length;
  if (start < 0 || text.slice(start, end).toLowerCase() !== literal) return null;
  if (literal.endsWith('://')) {
    USER_INFO.lastIndex = end;
    if (!USER_INFO.test(text)) return null;
  }
  const after = literal === KEY_BEGINNING ? AFTER_KEY : AFTER;
  return { start: Math.max(0, start - BEFORE), end: Math.min(text.length, end + after) };
}

function addRange(ranges: TextRange[], range: TextRange | null): void {
  if (range === null) return;
  const last = ranges.at(-1);
  if (last === undefined || range.start > last.end) ranges.push(range);
  else last.end = Math.max(last.end, range.end);
}

/** What the rules of secretlint's recommended preset find besides our own. */
export async function findBySecretlint(text: string): Promise<Span[]> {
  const ranges = findPresetRanges(text);
  if (ranges.length === 0) return [];
  // A call of the preset costs more than its text: all ranges are linted as one.
  loaded ??= loadRules();
  const content = ranges.map(({ start, end }) => text.slice(start, end)).join('\n');
  const found = await lintContent(content, await loaded);
  const spans: Span[] = [];
  let offset = 0;
  for (const range of ranges) {
    const next = offset + range.end - range.start + 1;
    for (const span of found) {
      if (span.start < offset || span.start >= next) continue;
      const start = span.start - offset + range.start;
      const end = Math.min(span.end - offset + range.start, range.end);
      if (end > start && !hasPlaceholders(text.slice(start, end))) spans.push({ kind: span.kind, start, end });
    }
    offset = next;
  }
  return spans;
}

type PresetRule = Parameters<
  Parameters<typeof import('@secretlint/secretlint-rule-preset-recommend').creator.create>[0]['registerRule']
>[0];
type Source = Parameters<NonNullable<ReturnType<PresetRule['create']>['file']>>[0];

/** The first lets a text switch off the others, the second judges a file by its name. */
const SKIPPED = new Set(['@secretlint/secretlint-rule-filter-comments', '@secretlint/secretlint-rule-gcp']);

let loaded: Promise<readonly PresetRule[]> | null = null;

async function loadRules(): Promise<readonly PresetRule[]> {
  const { creator } = await import('@secretlint/secretlint-rule-preset-recommend');
  const rules: PresetRule[] = [];
  creator.create({ sharedOptions: {}, registerRule: (rule: PresetRule) => rules.push(rule) }, {});
  return rules.filter((rule) => !SKIPPED.has(rule.meta.id));
}

/** Runs the rules as secretlint does, but without its timing of each rule, which costs more than the rules. */
async function lintContent(content: string, rules: readonly PresetRule[]): Promise<Span[]> {
  const found: Span[] = [];
  const source = describeSource(content);
  for (const rule of rules) {
    // `@secretlint/secretlint-rule-slack` is of the kind `slack`.
    const name = rule.meta.id.replace(/^.*secretlint-rule-/, '').replace(/[^a-z0-9-]/g, '');
    const kind = name.slice(0, 40) || 'secret';
    const handler = rule.create(
      {
        sharedOptions: {},
        createTranslator: () => (messageId, data) => ({ message: '', messageId: String(messageId), data }),
        report: ({ range: [start, end] }) => found.push({ kind, start, end }),
        ignore: failOnUse,
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
    locationToRange: failOnUse,
    rangeToLocation: failOnUse,
    positionToIndex: failOnUse,
    indexToPosition: failOnUse,
  };
}

/** Only the skipped rules use these. */
function failOnUse(): never {
  throw new Error('a rule of the secretlint preset uses a function that is not provided');
}
