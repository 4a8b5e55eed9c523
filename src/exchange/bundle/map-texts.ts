/**
 * A copy of a value of JSON in which every text, also those that are names of members, is what `change` makes of it.
 * A name that becomes `__proto__` is left out, as it is wherever JSON is read.
 */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [change(key), item] as const)
      .filter(([key]) => key !== '__proto__')
      .map(([key, item]) => [key, mapTexts(item, change)]),
  );
}
