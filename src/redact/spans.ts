import type { Span } from './rule.ts';

/** Of spans that meet, the one that begins first and reaches furthest names both; a shape is preferred to a context. */
export function joinSpans(spans: Span[]): Span[] {
  if (spans.length < 2) return spans;
  spans.sort(
    (a, b) => a.start - b.start || b.end - a.end || Number(a.byContext ?? 0) - Number(b.byContext ?? 0),
  );
  const joined: Span[] = [];
  let last: Span | null = null;
  for (const span of spans) {
    if (last === null || span.start >= last.end) {
      last = { ...span };
      joined.push(last);
    } else if (span.end > last.end) {
      last.end = span.end;
      last.value = undefined;
    }
  }
  return joined;
}
