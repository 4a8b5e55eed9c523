import { posix } from 'node:path';
import { compareCodeUnits } from '../../model/hash.ts';

/**
 * What programs that carry folders put between the stem and the extension of a file that was changed in two places:
 * Syncthing, Dropbox and its like, then those that only count.
 */
const MARKS = [
  /^\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?$/,
  /^ ?\([^()]*conflict(?:ed)?[^()]*\)$/i,
  /^_conf\([^()]*\)$/,
  /^ ?\(\d{1,3}\)$/,
  /^ \d{1,3}$/,
];

/** Of the names in the folder of `path`, those that are conflict copies of it, as paths beside it. */
export function findConflictCopies(path: string, names: readonly string[]): string[] {
  const { dir, name, ext } = posix.parse(path);
  return names
    .filter((other) => {
      if (other.length <= name.length + ext.length || !other.startsWith(name) || !other.endsWith(ext))
        return false;
      const between = other.slice(name.length, other.length - ext.length);
      return MARKS.some((mark) => mark.test(between));
    })
    .sort(compareCodeUnits)
    .map((other) => (dir === '' ? other : `${dir}/${other}`));
}
