/**
 * A function of a text that remembers what it gave for the texts it met last. What it gives is shared by all who ask, and
 * must not be changed.
 */
export function remember<T>(make: (text: string) => T, most: number): (text: string) => T {
  let latest = new Map<string, T>();
  let earlier = new Map<string, T>();
  return (text) => {
    const known = latest.get(text) ?? earlier.get(text);
    const made = known ?? make(text);
    if (latest.size >= most) {
      earlier = latest;
      latest = new Map();
    }
    latest.set(text, made);
    return made;
  };
}
