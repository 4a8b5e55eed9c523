// Writes dist/THIRD-PARTY-LICENSES.txt: the licences of every package that the build inlines, which are the packages that
// src imports and all that they depend on.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const optional = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).optionalDependencies);

/** @returns {string[]} */
function findImports() {
  const names = new Set();
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))) {
    const source = readFileSync(join('src', file), 'utf8');
    for (const [, name] of source.matchAll(/(?:from |import\()'((?:@[\w-]+\/)?[\w-]+)[^']*'/g)) names.add(name);
  }
  return [...names].filter((name) => name !== 'node' && !optional.includes(name));
}

/** @param {string} name */
function describe(name) {
  const folder = join('node_modules', name);
  const { version, license, dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[sc]e/i.test(entry));
  const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
  return { name, version, text, dependencies: Object.keys(dependencies) };
}

const found = new Map();
for (const open = findImports(); open.length > 0; ) {
  const name = open.pop();
  if (name === undefined || found.has(name) || !existsSync(join('node_modules', name))) continue;
  const inlined = describe(name);
  found.set(name, inlined);
  open.push(...inlined.dependencies);
}

const packages = [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
mkdirSync('dist', { recursive: true });
writeFileSync(
  'dist/THIRD-PARTY-LICENSES.txt',
  packages.map(({ name, version, text }) => `${name} ${version}\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`),
);
