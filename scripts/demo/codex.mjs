#!/usr/bin/env node
// Stands for Codex: shows the beginning of the prompt that it was started with.
const prompt = process.argv.at(-1) ?? '';
const lines = prompt.split('\n');
console.log(`(codex starts, and reads ${prompt.length} characters:)`);
for (const line of lines.slice(0, 12)) console.log(line);
console.log(`… and ${lines.length - 12} more lines`);
