/**
 * Whether a value is built like an example: the same fields, and in them the same kinds of values and containers. What is
 * in lists, maps and sets is not looked at, and nothing is asked of a field that is null in the example. For data of our
 * own that comes back whole, as a checksum says, but perhaps from another version.
 */
export function isShapedLike<T extends object>(value: unknown, example: T): value is T {
  return isLike(value, example);
}

function isLike(value: unknown, example: unknown): boolean {
  if (example === null) return true;
  if (typeof example !== 'object') return typeof value === typeof example;
  if (typeof value !== 'object' || value === null || tagOf(value) !== tagOf(example)) return false;
  return (
    tagOf(example) !== '[object Object]' ||
    Object.entries(example).every(([key, field]) => isLike(Reflect.get(value, key), field))
  );
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value);
}
