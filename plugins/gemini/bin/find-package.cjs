'use strict';
// Finds the installed agent-handover. Agents copy a plugin's folder to a place of their own, so that it holds nothing
// that could grow old: the package is the one around this folder, or else the one that PATH leads to.
const { existsSync, readFileSync, realpathSync } = require('node:fs');
const { delimiter, dirname, join } = require('node:path');

function* listPackages() {
  yield join(__dirname, '..', '..', '..');
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    const program = join(folder, 'agent-handover');
    if (existsSync(program)) yield dirname(dirname(realpathSync(program)));
    yield join(folder, 'node_modules', 'agent-handover');
  }
}

function isOurs(folder) {
  const manifest = join(folder, 'package.json');
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === 'agent-handover';
}

/** Undefined, and said so, where there is none. */
exports.findPackage = () => {
  const home = [...listPackages()].find(isOurs);
  if (home === undefined) process.stderr.write('not found: npm install --global agent-handover\n');
  return home;
};
