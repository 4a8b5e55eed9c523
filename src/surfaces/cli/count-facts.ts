export function countFacts(count: number): string {
  return count === 1 ? '1 fact' : `${count} facts`;
}
