#!/usr/bin/env node
'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const main = join(__dirname, '..', 'dist', 'cli', 'main.cjs');
if (!existsSync(main)) {
  process.stderr.write(
    'handover: it is not built yet\n  next: npm install (in the folder of agent-handover)\n',
  );
  process.exit(78);
}
require('node:module').enableCompileCache?.();
require(main).main();
