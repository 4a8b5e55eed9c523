import { hasPlaceholders } from './placeholder.ts';
import { findPresetPlaces, type Place } from './preset-places.ts';
import type { Span } from './rule.ts';

/** Those who made the shapes of the preset look at others: what they find besides is taken out as well. */
export async function findByPreset(text: string): Promise<Span[]> {
  const places = findPresetPlaces(text);
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
