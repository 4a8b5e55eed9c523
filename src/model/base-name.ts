const WINDOWS_PATH = /^[A-Za-z]:\\|^\\\\|^[^/]*\\[^/]*$/;

/** The last part of a path, whichever way its slashes lean. */
export function baseName(path: string): string {
  const slash = WINDOWS_PATH.test(path) ? /[\\/]+/ : /\/+/;
  return path.split(slash).findLast((part) => part !== '') ?? path;
}
