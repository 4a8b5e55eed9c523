import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../src/agents/agent.ts';
import { HOOK_EVENTS } from '../../src/agents/hook-input.ts';

/** The rows of each table of a document in Markdown, cell by cell, without its head. */
function readTables(text: string): string[][][] {
  return text
    .split(/\n(?!\|)/)
    .map((block) => block.split('\n').filter((line) => line.startsWith('|')))
    .filter((lines) => lines.length > 2)
    .map((lines) =>
      lines.slice(2).map((line) =>
        line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      ),
    );
}

const [capabilities = [], seenLive = [], sources = []] = readTables(readFileSync('docs/agents.md', 'utf8'));
const names = (rows: readonly string[][]): string[] => rows.map(([name = '']) => name.replaceAll('`', ''));

describe('docs/agents.md', () => {
  it('has a row for each agent that can be read, and for no other', () => {
    expect(names(capabilities)).toEqual([...AGENT_NAMES]);
    expect(names(sources)).toEqual([...AGENT_NAMES]);
  });

  it('says of every agent that has hooks what was seen live, and with which version', () => {
    expect(names(seenLive).map((name) => name.split(' ')[0])).toEqual(Object.keys(HOOK_EVENTS));
    for (const name of names(seenLive)) expect(name).toMatch(/ \d+\.\d+\.\d+$/);
  });

  it('says of every capability whether it is there, and of every agent which version was looked at', () => {
    const word = /^(?:built|not built|not seen live|the agent cannot)(?:$|[:;] |, )/;
    for (const [name, version, ...cells] of capabilities) {
      expect(version, name).toMatch(/\d/);
      expect(cells, name).toHaveLength(4);
      for (const cell of cells) expect(cell, name).toMatch(word);
    }
  });
});
