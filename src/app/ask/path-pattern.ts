const WILD = /[*?[\]{}]/;

export function isPattern(path: string): boolean {
  return WILD.test(path);
}

/**
 * A pattern of paths as shells have it: `*` and `?` stay within a part of the path, `**` goes through folders, `[ab]` is one of
 * these characters, `{a,b}` one of these texts. What is not closed stands for itself.
 */
export function compilePattern(pattern: string): RegExp {
  let source = '';
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at);
    const [token = rest.charAt(0)] = /^(?:\*\*\/|\*+|\[[^\]/]+\])/.exec(rest) ?? [];
    at += token.length - 1;
    if (token === '**/') source += '(?:[^/]+/)*';
    else if (token.startsWith('*')) source += token === '*' ? '[^/]*' : '.*';
    else if (token === '?') source += '[^/]';
    else if (token.length > 1) source += compileClass(token);
    else if (token === '{' && rest.includes('}')) {
      depth++;
      source += '(?:';
    } else if (token === '}' && depth > 0) {
      depth--;
      source += ')';
    } else source += token === ',' && depth > 0 ? '|' : quoteText(token);
  }
  return new RegExp(`^${source}${')'.repeat(depth)}$`, 'su');
}

function compileClass(token: string): string {
  const inner = token.slice(1, -1);
  const isNegated = /^[!^]/.test(inner);
  const members = inner.slice(isNegated ? 1 : 0).replace(/[\\\]^[]/g, '\\$&');
  if (members === '') return quoteText(token);
  const ordered = [...members.matchAll(/(.)-(.)/gsu)].every(([, from = '', to = '']) => from <= to);
  return `[${isNegated ? '^' : ''}${ordered ? members : members.replaceAll('-', '\\-')}]`;
}

function quoteText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
