#!/usr/bin/env node
'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const start = join(__dirname, '..', 'dist', 'start', 'start.cjs');
if (!existsSync(start)) {
  process.stderr.write('handover: it is not built yet\n  next: npm install (in the folder of agent-handover)\n');
  process.exit(78);
}
require(start).startCommand(__dirname);
