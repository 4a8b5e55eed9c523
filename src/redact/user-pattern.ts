const MAX_LENGTH = 500;
const MOST_REPEATS = 256;
/** How many ways to match one place there may be: the time that a place takes is bounded by it. */
const MOST_WAYS = 4096;
const LEAST_LITERAL = 3;

const TOKEN =
  /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?(?:<?[=!]|:|<[A-Za-z]\w*>)|\(|\)|(?:[*+?]|\{\d+(?:,\d*)?\})\??|[\s\S]/g;

interface Group {
  repeats: boolean;
}

/**
 * A pattern of the user as one that takes linear time, or what is wrong with it. It begins with three plain characters, by
 * which it is looked for; `*` and `+` mean at most 256 times; nothing that repeats stands in something that repeats; and
 * there are no references back.
 */
export function boundPattern(source: string): RegExp | string {
  if (source.length > MAX_LENGTH) return `a pattern has at most ${MAX_LENGTH} characters`;
  if (
    !new RegExp(`^[A-Za-z0-9_@#%~/:=<>"'-]{${LEAST_LITERAL}}(?![*+?{])`).test(source) ||
    (source.includes('|') && hasOuterChoice(source))
  )
    return `a pattern begins with ${LEAST_LITERAL} plain characters`;
  const bounded = boundTokens(source);
  if (!Array.isArray(bounded)) return bounded;
  try {
    return new RegExp(bounded.join(''), 'g');
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return 'this is not a regular expression';
  }
}

function hasOuterChoice(source: string): boolean {
  let depth = 0;
  for (const [token] of source.matchAll(TOKEN)) {
    if (token.startsWith('(')) depth++;
    if (token === ')') depth--;
    if (token === '|' && depth === 0) return true;
  }
  return false;
}

function boundTokens(source: string): string[] | string {
  const tokens: string[] = [];
  const open: Group[] = [];
  let closed: Group | null = null;
  let ways = 1;
  for (const [token] of source.matchAll(TOKEN)) {
    if (/^\\[1-9k]/.test(token)) return 'a pattern may not refer back';
    const repeat = readRepeat(token);
    if (repeat !== null) {
      if (closed?.repeats === true) return 'what repeats may not stand in something that repeats';
      if (repeat.most > MOST_REPEATS) return `nothing repeats more than ${MOST_REPEATS} times`;
      ways *= repeat.most - repeat.least + 1;
      if (ways > MOST_WAYS) return 'the pattern can match in too many ways: say how often things repeat';
      for (const group of open) group.repeats = true;
      tokens.push(repeat.text);
      closed = null;
      continue;
    }
    closed = null;
    if (token.startsWith('(')) {
      if (/^\(\?<?[=!]/.test(token)) return 'a pattern may not look around';
      open.push({ repeats: false });
    }
    if (token === ')') closed = open.pop() ?? null;
    if (token === '|') for (const group of open) group.repeats = true;
    tokens.push(token);
  }
  return tokens;
}

function readRepeat(token: string): { text: string; least: number; most: number } | null {
  const [, mark, from, comma, to] = /^(?:([*+?])|\{(\d+)(,)?(\d*)\})\??$/.exec(token) ?? [];
  if (mark === '?') return { text: '?', least: 0, most: 1 };
  if (mark !== undefined) {
    const least = mark === '+' ? 1 : 0;
    return { text: `{${least},${MOST_REPEATS}}`, least, most: MOST_REPEATS };
  }
  if (from === undefined) return null;
  const least = Number(from);
  const most = comma === undefined ? least : to === '' || to === undefined ? MOST_REPEATS : Number(to);
  return { text: `{${least},${most}}`, least, most };
}
