import { describe, expect, it } from 'vitest';
import type { Ancestor } from '../../src/platform/process-identity.ts';
import { cleanTerminalId, findAgentProcess, identifyTerminal, isStartedByTimer } from '../../src/platform/terminal.ts';

const ancestor = (more: Partial<Ancestor>): Ancestor => ({
  pid: 4_100_000,
  name: 'claude',
  start: '77',
  leader: 4_000_001,
  tty: 34_817,
  ...more,
});
const identify = (more: Partial<Parameters<typeof identifyTerminal>[0]>): string | null =>
  identifyTerminal({ named: null, env: {}, ancestors: [], ...more });

describe('the id of a terminal', () => {
  it('is the one that the agent passes, before all others', () => {
    expect(identify({ named: 'pane 3', env: { TERMINAL_ID: 'x' } })).toBe('pane 3');
  });

  it('is taken from the first known environment variable', () => {
    const env = { SESSION_TERMINAL: 'd', TERM_ID: 'c', TERMINAL_ID: 'b', CLAUDE_TERMINAL_ID: 'a' };
    expect(identify({ env })).toBe('env_a');
    expect(identify({ env: { ...env, CLAUDE_TERMINAL_ID: '' } })).toBe('env_b');
    expect(identify({ env: { WT_SESSION: 'w' } })).toBe('console_w');
  });

  it('is known from the kernel without any variable', () => {
    const one = identify({ ancestors: [ancestor({})] });
    const other = identify({ ancestors: [ancestor({ tty: 34_818, leader: 4_000_002 })] });
    expect(one).toMatch(/^tty_34817-/);
    expect(other).not.toBe(one);
    expect(identify({ ancestors: [ancestor({ pid: 4_100_009, start: '99' })] })).toBe(one);
  });

  it('is that of the agent process where there is no terminal', () => {
    const one = identify({ ancestors: [ancestor({ name: 'sh', tty: 0 }), ancestor({ tty: 0 })] });
    expect(one).toBe('process_4100000-77');
    expect(identify({ ancestors: [ancestor({ tty: 0, start: '78' })] })).not.toBe(one);
  });

  it('is unknown where nothing identifies it', () => {
    expect(identify({})).toBeNull();
    expect(identify({ env: { TERM_SESSION_ID: 'w0t1' } })).toBe('term_session_id_w0t1');
  });

  it.each(['', 'a\0b', '../x', 'a..b', './x', '/x', '\\x'])('is never %j', (id) => {
    expect(cleanTerminalId(id)).toBeNull();
  });

  it('has no separator in it', () => {
    expect(cleanTerminalId('a/b\\c:d')).toBe('a-b-c-d');
  });
});

describe('the process that calls a hook', () => {
  it('is the nearest ancestor that is no shell', () => {
    const chain = [ancestor({ name: 'sh' }), ancestor({ name: 'bash' }), ancestor({ name: 'codex', pid: 7 })];
    expect(findAgentProcess(chain)?.pid).toBe(7);
    expect(findAgentProcess([])).toBeNull();
  });

  it('may be a cron daemon', () => {
    expect(isStartedByTimer([ancestor({}), ancestor({ name: 'cron' })])).toBe(true);
    expect(isStartedByTimer([ancestor({}), ancestor({ name: 'bash' })])).toBe(false);
  });
});
