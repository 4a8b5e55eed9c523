#!/usr/bin/env node
'use strict';
// What agents start: `hook.cjs <agent> <Event>`. With --work it is the worker that the hook leaves behind.
try {
  const { startHook, startWorker } = require('../dist/start/start.cjs');
  if (process.argv[2] === '--work') startWorker(__dirname);
  else startHook(__dirname);
} catch {
  // Not built, or half removed: whatever is wrong here must not become the agent's trouble.
  process.exitCode = 0;
}
