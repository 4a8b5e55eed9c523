import { listCases } from './cases.ts';
import { ASCII } from './characters.ts';
import { packThree } from './three-table.ts';

/** A part of a text that a rule of the preset could look at. */
export interface Place {
  start: number;
  end: number;
}

const KEY_BEGINNING = '-----begin';
const WORD = [...'abcdefghijklmnopqrstuvwxyz0123456789_'];

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
  ['huggingface', WORD.map((char) => `hf_${char}`)],
  ['linear', ['lin_api_']],
  ['notion', ['ntn_']],
  ['npm', ['npm_', '_authtoken=', ':x-oauth-basic@']],
  ['openai', ['t3blbkfj']],
  ['privatekey', [KEY_BEGINNING]],
  ['sendgrid', WORD.map((char) => `sg.${char}`)],
  ['shopify', ['shppa_', 'shpca_', 'shpat_', 'shpss_']],
  ['slack', ['xoxb-', 'xoxp-', 'xapp-', 'xoxa-', 'xoxo-', 'xoxr-', 'hooks.slack.com']],
  ['vercel', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_']],
]);

/** How far what is found reaches before its literal, behind it, and behind the first line of a private key. */
const BEFORE = 320;
const AFTER = 1400;
const AFTER_KEY = 11_000;

interface Sign {
  literal: string;
  /** Where in the literal the three characters stand. */
  offset: number;
}

interface SignTable {
  signs: ReadonlyMap<number, readonly Sign[]>;
  /** One bit for every three characters: whether there is a sign for them. */
  hasSign: Uint8Array;
}

let built: SignTable | null = null;

function buildTable(): SignTable {
  const signs = new Map<number, Sign[]>();
  const hasSign = new Uint8Array(1 << 18);
  for (const literal of new Set([...PRESET_LITERALS.values()].flat())) {
    for (const offset of [0, 1]) {
      for (const three of listCases(literal.slice(offset, offset + 3))) {
        const key = packThree(three, 0);
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
export function findPresetPlaces(text: string): Place[] {
  built ??= buildTable();
  const { signs, hasSign } = built;
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

function findPlace(text: string, at: number, { literal, offset }: Sign): Place | null {
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
