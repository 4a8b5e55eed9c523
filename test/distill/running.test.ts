import { describe, expect, it } from 'vitest';
import {
  agent,
  distillSession,
  done,
  inBackground,
  ofKind,
  open,
  run,
  type Step,
  stateOf,
  user,
  useTool,
} from '../support/scripted-session.ts';

const first = user('Start the server of the shop and look at the cart');
const server = inBackground('npm run dev', 'bash_7');

/** A command that the agent stopped waiting for. */
function leave(command: string, output: string): Step {
  return (call) => [
    ...open({ kind: 'command', command, background: false })(call),
    { type: 'result', call, ok: null, exit: null, output, running: true },
  ];
}

function runningOf(...steps: Step[]): string[] {
  return ofKind(distillSession(first, ...steps), 'running').map(({ text }) => text);
}

describe('a command in the background', () => {
  it('runs until it is seen to end, whatever was done after it', () => {
    expect(runningOf(server)).toEqual(['npm run dev']);
    expect(runningOf(server, run('curl localhost'), agent('The cart is there.'))).toEqual(['npm run dev']);
  });

  it('ends when it is stopped by its id', () => {
    expect(runningOf(server, useTool('KillShell', 'bash_7', 'Killed'))).toEqual([]);
    expect(runningOf(server, useTool('KillShell', 'bash_8', 'Killed'))).toEqual(['npm run dev']);
  });

  it('ends when its status says so', () => {
    expect(runningOf(server, useTool('BashOutput', 'bash_7', '<status>running</status>'))).toEqual(['npm run dev']);
    expect(runningOf(server, useTool('BashOutput', 'bash_7', '<status>completed</status>'))).toEqual([]);
    expect(runningOf(server, useTool('TaskOutput', 'bash_7', '{"status": "failed"}'))).toEqual([]);
  });

  it('is not ended by the status of another', () => {
    const other = inBackground('npm run watch', 'bash_9');
    expect(runningOf(server, other, useTool('BashOutput', 'bash_9', '<status>killed</status>'))).toEqual([
      'npm run dev',
    ]);
  });

  it('is not one that puts itself into the background: only its shell is followed', () => {
    expect(runningOf(inBackground('npm run dev > dev.log 2>&1 &', 'bash_7'))).toEqual([]);
  });

  it('is the last of those that ran the same', () => {
    const ended = [useTool('BashOutput', 'bash_9', '<status>completed</status>')];
    expect(runningOf(server, inBackground('npm run dev', 'bash_9'))).toEqual(['npm run dev']);
    expect(runningOf(server, inBackground('npm run dev', 'bash_9'), ...ended)).toEqual([]);
  });

  it('is one that was not waited for only as long as that is recent, unless it says where it listens', () => {
    const others = Array.from({ length: 7 }, (_, at) => run(`ls ${at}`));
    const left = (output: string): Step => leave('npm run check', output);
    expect(runningOf(left(''), ...others.slice(1))).toEqual(['npm run check']);
    expect(runningOf(left(''), ...others)).toEqual([]);
    expect(runningOf(left('ready on http://localhost:4100'), ...others)).toEqual(['npm run check']);
  });

  it('is one that goes on by its result, until another result ends it', () => {
    const going = leave('npm test', '...');
    const ended: Step = () => [{ type: 'result', call: 'call-1', ok: false, exit: 1, output: 'Tests: 2 failed' }];
    expect(runningOf(going)).toEqual(['npm test']);
    expect(runningOf(going, ended)).toEqual([]);
    expect(stateOf(first, going, ended).join('\n')).toContain('`npm test` FAILED');
  });

  it('is named without the variables that it is given', () => {
    expect(runningOf(inBackground("PORT=3000 ORIGINS='http://localhost:5173' npm run dev", 'bash_7'))).toEqual([
      'npm run dev',
    ]);
  });

  it('listens on the port that it is given or says itself, not on one that it is told about', () => {
    const portsOf = (...steps: Step[]): unknown[] =>
      ofKind(distillSession(first, ...steps), 'running').map(({ detail }) => detail?.port);
    const shop = inBackground('ORIGINS="http://localhost:5173" npm run dev', 'bash_7');
    const isUp = (id: string, tool = 'BashOutput'): Step =>
      done({ kind: 'other', texts: [id] }, 'ready on http://localhost:3000', true, tool);
    expect(portsOf(shop)).toEqual([undefined]);
    expect(portsOf(inBackground('PORT=3000 npm run dev', 'bash_7'))).toEqual([3000]);
    expect(portsOf(inBackground('vite --port 4000', 'bash_7'))).toEqual([4000]);
    expect(portsOf(shop, isUp('bash_7'))).toEqual([3000]);
    expect(portsOf(shop, isUp('bash_8'))).toEqual([undefined]);
  });

  it('is not one that was never reported to have started', () => {
    expect(runningOf(open({ kind: 'command', command: 'npm run dev', background: true }))).toEqual([]);
    expect(runningOf(open({ kind: 'command', command: 'npm test', background: false }))).toEqual([]);
  });
});
