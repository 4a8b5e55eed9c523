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
  const { lintSource, config } = await loadPreset();
  const content = places.map(({ start, end }) => text.slice(start, end)).join(BETWEEN);
  const { messages } = await lintSource({
    source: { content, filePath: 'text.txt', ext: '.txt', contentType: 'text' },
    options: { config },
  });
  const spans: Span[] = [];
  let offset = 0;
  for (const place of places) {
    const next = offset + place.end - place.start + BETWEEN.length;
    for (const { ruleId, range } of messages) {
      if (range[0] < offset || range[0] >= next) continue;
      const start = range[0] - offset + place.start;
      const end = Math.min(range[1] - offset + place.start, place.end);
      if (end > start && !hasPlaceholders(text.slice(start, end)))
        spans.push({ kind: nameKind(ruleId), start, end });
    }
    offset = next;
  }
  return spans;
}

let loaded: Promise<Preset> | null = null;

type LintSource = typeof import('@secretlint/core').lintSource;

type PresetRule = Parameters<
  Parameters<typeof import('@secretlint/secretlint-rule-preset-recommend').creator.create>[0]['registerRule']
>[0];

interface Preset {
  lintSource: LintSource;
  config: Parameters<LintSource>[0]['options']['config'];
}

/** One lets a text switch the others off, one judges a file by its name. */
const LEFT_OUT = new Set(['@secretlint/secretlint-rule-filter-comments', '@secretlint/secretlint-rule-gcp']);

/** Loading costs more than most texts do. */
async function loadPreset(): Promise<Preset> {
  loaded ??= (async () => {
    const { lintSource } = await import('@secretlint/core');
    const { creator } = await import('@secretlint/secretlint-rule-preset-recommend');
    const rules: Preset['config']['rules'] = [];
    const registerRule = (rule: PresetRule): void => {
      if (!LEFT_OUT.has(rule.meta.id)) rules.push({ id: rule.meta.id, rule });
    };
    creator.create({ sharedOptions: {}, registerRule }, {});
    return { lintSource, config: { rules } };
  })();
  return await loaded;
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
