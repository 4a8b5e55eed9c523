import { hasPlaceholders } from './placeholder.ts';
import type { Span } from './rule.ts';

/** Those who made the shapes of the preset look at others: what they find besides is taken out as well. */
export async function findByPreset(text: string): Promise<Span[]> {
  const { lintSource, config } = await loadPreset();
  const { messages } = await lintSource({
    source: { content: text, filePath: 'text.txt', ext: '.txt', contentType: 'text' },
    options: { config },
  });
  return messages
    .map(({ ruleId, range: [start, end] }) => ({ kind: nameKind(ruleId), start, end }))
    .filter(({ start, end }) => end > start && !hasPlaceholders(text.slice(start, end)));
}

let loaded: Promise<Preset> | null = null;

type LintSource = typeof import('@secretlint/core').lintSource;

interface Preset {
  lintSource: LintSource;
  config: Parameters<LintSource>[0]['options']['config'];
}

/** Loading costs more than most texts do. */
async function loadPreset(): Promise<Preset> {
  loaded ??= (async () => {
    const { lintSource } = await import('@secretlint/core');
    const { creator } = await import('@secretlint/secretlint-rule-preset-recommend');
    return { lintSource, config: { rules: [{ id: '@secretlint/preset', rule: creator }] } };
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
