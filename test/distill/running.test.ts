import { describe, expect, it } from 'vitest';
import {
  agent,
  distillSession,
  inBackground,
  ofKind,
  open,
  run,
  type Step,
  user,
  useTool,
} from '../support/scripted-session.ts';

const first = user('Start the server of the shop and look at the cart');
const server = inBackground('npm run dev', 'bash_7');

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

  it('is not one that was never reported to have started', () => {
    expect(runningOf(open({ kind: 'command', command: 'npm run dev', background: true }))).toEqual([]);
    expect(runningOf(open({ kind: 'command', command: 'npm test', background: false }))).toEqual([]);
  });
});
