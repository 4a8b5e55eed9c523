import type { Span } from './rule.ts';

/** Of spans that meet, the one that begins first and reaches furthest names both; a shape is preferred to a context. */
export function joinSpans(spans: Span[]): Span[] {
  if (spans.length < 2) return spans;
  spans.sort(
    (a, b) => a.start - b.start || b.end - a.end || Number(a.byContext ?? 0) - Number(b.byContext ?? 0),
  );
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last === undefined || span.start >= last.end) joined.push(span);
    else if (span.end > last.end) joined[joined.length - 1] = { ...last, end: span.end, value: undefined };
  }
  return joined;
}
