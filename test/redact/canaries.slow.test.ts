import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../src/agents/agent.ts';
import { COMMANDS } from '../../src/surfaces/cli/commands/table.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { plantCanaries } from '../support/canaries.ts';
import { listFiles } from '../support/tree.ts';
import { declare, remember, takeOver } from './walkthrough/declared-text.ts';
import { exchange, publish } from './walkthrough/publish-and-export.ts';
import { look, serve } from './walkthrough/read-only-commands.ts';
import { callHooks, captureAgents, captureSession, plantInGit } from './walkthrough/sessions.ts';
import { Walk } from './walkthrough/walkthrough.ts';

describe('of 500 planted secrets from every input', () => {
  const walk = new Walk();
  const { sandbox, receiver, watch } = walk;

  beforeAll(async () => {
    plantInGit(walk);
    await captureSession(walk);
    await callHooks(walk);
    await captureAgents(walk);
    await declare(walk);
    await takeOver(walk);
    await remember(walk);
    await serve(walk);
    await publish(walk);
    await exchange(walk);
    await look(walk);
  }, 240_000);

  it('all are of 60 kinds or more, and the search for them works', () => {
    expect(walk.planted.length).toBeGreaterThanOrEqual(500);
    expect(new Set(walk.planted.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(60);
    const told = new Transcript();
    plantCanaries(told, walk.planted);
    const found = new Set(watch.find(told.text.replaceAll('\\"', '"')));
    expect(found.size / walk.planted.length).toBeGreaterThan(0.9);
  });

  it('some reach every command and every agent', () => {
    expect(Object.keys(COMMANDS).filter((name) => !walk.commands.has(name))).toEqual([]);
    expect(AGENT_NAMES.filter((name) => !walk.agents.has(name))).toEqual([]);
  });

  it('none is in any file of the store, at the end or in between', () => {
    const files = listFiles(sandbox.store);
    expect(files.length).toBeGreaterThan(50);
    for (const name of ['index.sqlite', 'search.sqlite', 'sessions.sqlite'])
      expect(files).toContain(join(sandbox.store, name));
    expect(watch.findInFiles(sandbox.store)).toEqual([]);
    expect(walk.early).toEqual([]);
  });

  it('none is in files written into the project', () => {
    const written = ['memory', '.agent-handover', 'SOUL.md', 'MEMORY.md', 'AGENTS.md'];
    // What the user wrote there stays as it is.
    const own = ['memory/layer2/current-state.md'];
    const files = listFiles(sandbox.project).filter((file) => {
      const path = file.slice(sandbox.project.length + 1);
      return written.some((name) => path === name || path.startsWith(`${name}/`)) && !own.includes(path);
    });
    expect(files.length).toBeGreaterThan(8);
    expect(files.flatMap((file) => watch.findInFile(file))).toEqual([]);
  });

  it('none is in the remote repository', () => {
    expect(watch.findInRepository(sandbox.remote)).toEqual([]);
  });

  it('none is in imported handovers, bundles or temporary files', () => {
    expect(listFiles(receiver.store).length).toBeGreaterThan(30);
    expect(watch.findInFiles(receiver.store)).toEqual([]);
    expect(listFiles(walk.temp).length).toBeGreaterThanOrEqual(6);
    expect(watch.findInFiles(walk.temp)).toEqual([]);
  });

  it('none is in anything printed or sent by a command', () => {
    expect(walk.outputs.length).toBeGreaterThan(150);
    expect(
      walk.outputs.flatMap((output) => watch.find(output).map((told) => `${output.slice(0, 60)}: ${told}`)),
    ).toEqual([]);
  });
});
