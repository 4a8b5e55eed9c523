/** The last part of a path with forward slashes. */
export function baseName(path: string): string {
  return path.replace(/\/+$/, '').split('/').at(-1) ?? path;
}
