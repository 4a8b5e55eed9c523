#!/usr/bin/env node
'use strict';
// Runs the hook entry of the installed agent-handover.
const { join } = require('node:path');

try {
  const { findPackage } = require('./find-package.cjs');
  const home = findPackage();
  if (home !== undefined) require(join(home, 'bin', 'hook.cjs'));
} catch {
  // Whatever is wrong here must not become the agent's trouble.
  process.exitCode = 0;
}
