import { DIGIT, WORD, WORD_END, WORD_START } from './characters.ts';
import { findStems } from './commands.ts';
import { ERRNO_NAMES } from './errno.ts';
import { baseName, findPaths, isPath } from './paths.ts';

/**
 * What counts as a name in a text. These patterns are the evaluation's own and share nothing with the ones by which
 * sessions are distilled: a product that brought its own idea of a name would grade itself.
 */
export const ENTITY_KINDS = ['file', 'ident', 'error', 'ref', 'url', 'cmd', 'sym'] as const;
export type EntityKind = (typeof ENTITY_KINDS)[number];
export type Entities = Readonly<Record<EntityKind, ReadonlySet<string>>>;

const BACK_TICKED = /`([^`\n]{2,120})`/gu;
const IDENTIFIER = new RegExp(
  `${WORD_START}(?:${[
    '[a-z]+[A-Z][A-Za-z0-9]+',
    '[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+',
    '[a-z][a-z0-9]*(?:_[a-z0-9]+)+',
    '[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+',
    String.raw`[a-zA-Z_][${WORD}]*(?:\.[a-zA-Z_][${WORD}]*)*\(\)`,
  ].join('|')})`,
  'gu',
);
const ERROR = new RegExp(
  `${WORD_START}(?:${[
    '[A-Z][A-Za-z]*(?:Error|Exception|Warning|Panic)',
    ...ERRNO_NAMES,
    `exit (?:code|status) ${DIGIT}+`,
    `TS${DIGIT}{4}`,
    `[45]${DIGIT}${DIGIT} (?:Unauthorized|Forbidden|Not Found|Internal)`,
    'SIG[A-Z]{3,5}',
    'ERR_[A-Z_]+',
  ].join('|')})${WORD_END}`,
  'gu',
);
const REFERENCE = new RegExp(
  String.raw`${WORD_START}(?:#${DIGIT}{1,6}|[A-Z]{2,6}-${DIGIT}{1,5}|v${DIGIT}+\.${DIGIT}+(?:\.${DIGIT}+)?)${WORD_END}`,
  'gu',
);
const URL_TEXT = /https?:\/\/[^\s)>\]"'`]+/gu;
const SYMBOL = new RegExp(String.raw`^[${WORD}.\/:@#\-]+$`, 'u');
const NAME_MARK = /[_./:-]|[a-z][A-Z]/;
const COMMAND_START = /^[a-z./]/;
/** Too common between back-ticks to be a name. */
const COMMON = new Set('true false null none main src test tests json string number'.split(' '));
const SHORTEST_IDENTIFIER = 5;
const SHORTEST_SYMBOL = 4;

export function findEntities(text: string): Entities {
  const file = new Set([...findPaths(text)].map(baseName));
  const stems = new Set([...file].map((name) => name.split('.', 1)[0] ?? ''));
  const { cmd, sym } = findBackTicked(text);
  return {
    file,
    ident: new Set(findIdentifiers(text).filter((name) => !stems.has(name))),
    error: new Set([...text.matchAll(ERROR)].map(([name]) => name)),
    ref: new Set([...text.matchAll(REFERENCE)].map(([name]) => name)),
    url: new Set([...text.matchAll(URL_TEXT)].map(([url]) => url.replace(/[.,]+$/, ''))),
    cmd,
    sym,
  };
}

function findIdentifiers(text: string): string[] {
  return [...text.matchAll(IDENTIFIER)]
    .map(([name]) => name.replace(/[()]+$/, ''))
    .map((name) => name.slice(name.lastIndexOf('.') + 1))
    .filter((name) => name.length >= SHORTEST_IDENTIFIER);
}

function findBackTicked(text: string): { cmd: Set<string>; sym: Set<string> } {
  const cmd = new Set<string>();
  const sym = new Set<string>();
  for (const [, quoted = ''] of text.matchAll(BACK_TICKED)) {
    const name = quoted.trim();
    if (COMMON.has(name.toLowerCase()) || name.length < SHORTEST_SYMBOL) continue;
    if (name.includes(' ')) {
      if (COMMAND_START.test(name)) for (const stem of findStems(name)) cmd.add(stem);
    } else if (SYMBOL.test(name) && !isPath(name) && NAME_MARK.test(name)) sym.add(name);
  }
  return { cmd, sym };
}
