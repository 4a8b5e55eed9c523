#!/usr/bin/env node
'use strict';
// Runs the MCP server of the installed agent-handover.
const { join } = require('node:path');
const { findPackage } = require('./find-package.cjs');

const home = findPackage();
if (home === undefined) process.exitCode = 78;
else {
  const program = join(home, 'bin', 'handover.cjs');
  process.argv = [process.execPath, program, 'mcp', ...process.argv.slice(2)];
  require(program);
}
