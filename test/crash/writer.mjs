import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/*
 * Writes a file in one of several ways, all but `sound` of them wrong on purpose, and says so on standard output:
 * node writer.mjs sound|in-place|no-file-sync|no-folder-sync|no-parent-sync SOURCE TARGET
 */

const [way = '', source = '', target = ''] = process.argv.slice(2);
const content = readFileSync(source);
const folder = dirname(target);
mkdirSync(folder);
if (way !== 'no-parent-sync') sync(dirname(folder));
if (way === 'in-place') write(target);
else {
  const temp = `${target}.new`;
  write(temp);
  renameSync(temp, target);
  if (way !== 'no-folder-sync') sync(folder);
}
writeSync(1, 'done\n');

/** @param {string} path */
function write(path) {
  const fd = openSync(path, 'w');
  writeSync(fd, content);
  if (way !== 'no-file-sync' && way !== 'in-place') fsyncSync(fd);
  closeSync(fd);
}

/** @param {string} path */
function sync(path) {
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
}
