/**
 * RFC 8785 canonical JSON: keys sorted by UTF-16 code unit, no white space, ECMAScript number and string forms.
 * Throws a TypeError on what the RFC has no form for: NaN, infinities, lone surrogates, anything that is not JSON.
 * Members whose value is undefined are left out, as `JSON.stringify` does.
 */
export function canonicalize(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return formatNumber(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalize(item)).join(',')}]`;
  if (typeof value === 'object') return `{${canonicalizeMembers(value)}}`;
  throw new TypeError(`${typeof value} has no canonical form`);
}

/** One text, grown in place: a record has thousands of members. Sorting without a comparator goes by code unit. */
function canonicalizeMembers(object: object): string {
  let text = '';
  for (const key of Object.keys(object).sort()) {
    const member: unknown = Reflect.get(object, key);
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${quote(key)}:${canonicalize(member)}`;
  }
  return text;
}

export function compareCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** What stands in JSON as it is; the quotes are all that `JSON.stringify` would add, at several times the cost. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new TypeError('a lone surrogate has no canonical form');
  return JSON.stringify(text);
}

function formatNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical form`);
  return JSON.stringify(value);
}
