import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { parsePlugin, writePlugin } from '../../src/agents/opencode/setup.ts';
import { makeTempFolder } from '../support/cli.ts';

interface Plugin {
  event(call: { event: { type: string; properties: unknown } }): Promise<void>;
  'chat.message'(input: { sessionID: string }, output: { parts: unknown[] }): Promise<void>;
  'experimental.chat.system.transform'(input: { sessionID?: string }, output: { system: string[] }): Promise<void>;
  'experimental.session.compacting'(input: { sessionID: string }): Promise<void>;
  dispose(): Promise<void>;
}

/** A hook entry that notes its calls and answers a start with a context. */
const ENTRY = `
let input = '';
process.stdin.on('data', (text) => { input += text; });
process.stdin.on('end', () => {
  const [, , agent, event] = process.argv;
  require('node:fs').appendFileSync(__dirname + '/calls.jsonl', JSON.stringify({ agent, event, ...JSON.parse(input) }) + '\\n');
  if (event === 'session.created') process.stdout.write(JSON.stringify({ context: 'the brief' }));
  if (event === 'session.compacted') process.stdout.write(JSON.stringify({ context: 'the brief again' }));
  if (event === 'session.idle') process.stdout.write('not JSON');
});`;

let folder: string;
let plugin: Plugin;

async function load(node: string): Promise<Plugin> {
  const file = join(folder, `${Math.random()}.mjs`);
  writeFileSync(file, writePlugin({ node, script: join(folder, 'bin/hook.cjs') }));
  const { AgentHandover } = await import(pathToFileURL(file).href);
  return await AgentHandover({ directory: '/work/shop' });
}

beforeEach(async () => {
  folder = makeTempFolder();
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/hook.cjs'), ENTRY);
  plugin = await load(process.execPath);
});

function calls(): unknown[] {
  return readFileSync(join(folder, 'bin/calls.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function systemOf(session: string): Promise<string[]> {
  const output = { system: ['own'] };
  await plugin['experimental.chat.system.transform']({ sessionID: session }, output);
  return output.system;
}

const say = (type: string, properties: unknown): Promise<void> => plugin.event({ event: { type, properties } });
const prompt = (session: string, text: string): Promise<void> =>
  plugin['chat.message'](
    { sessionID: session },
    { parts: [{ type: 'text', text }, { type: 'text', text: 'made up', synthetic: true }, { type: 'file' }] },
  );

describe('the plugin for OpenCode', () => {
  it('runs the hook at each event, and adds its context to every request of the session', async () => {
    await say('session.created', { sessionID: 'ses_1', info: { id: 'ses_1' } });
    await prompt('ses_1', 'Add a retry');
    expect(await systemOf('ses_1')).toEqual(['own', 'the brief']);
    expect(await systemOf('ses_1')).toEqual(['own', 'the brief']);
    expect(await systemOf('ses_other')).toEqual(['own']);
    await say('session.idle', { sessionID: 'ses_1' });
    await plugin['experimental.session.compacting']({ sessionID: 'ses_1' });
    await say('session.compacted', { sessionID: 'ses_1' });
    expect(await systemOf('ses_1')).toEqual(['own', 'the brief again']);
    await plugin.dispose();
    const common = { agent: 'opencode', session_id: 'ses_1', cwd: '/work/shop' };
    expect(calls()).toEqual([
      { ...common, event: 'session.created', source: 'startup' },
      { ...common, event: 'chat.message', prompt: 'Add a retry' },
      { ...common, event: 'session.idle' },
      { ...common, event: 'session.compacting' },
      { ...common, event: 'session.compacted' },
      { ...common, event: 'dispose' },
    ]);
  });

  it('starts a session of an earlier process at its first prompt', async () => {
    await prompt('ses_2', 'Go on');
    expect(calls()).toMatchObject([{ event: 'session.created', source: 'resume' }, { event: 'chat.message' }]);
    expect(await systemOf('ses_2')).toEqual(['own', 'the brief']);
  });

  it('leaves sub-agents alone', async () => {
    await say('session.created', { sessionID: 'ses_1', info: { id: 'ses_1' } });
    await say('session.created', { sessionID: 'ses_sub', info: { id: 'ses_sub', parentID: 'ses_1' } });
    await prompt('ses_sub', 'look around');
    await say('session.idle', { sessionID: 'ses_sub' });
    await plugin['experimental.session.compacting']({ sessionID: 'ses_sub' });
    expect(await systemOf('ses_sub')).toEqual(['own']);
    await plugin.dispose();
    expect(JSON.stringify(calls())).not.toContain('ses_sub');
  });

  it('does nothing when the program is missing', async () => {
    plugin = await load('/gone/node');
    await prompt('ses_1', 'Add a retry');
    await say('session.idle', { sessionID: 'ses_1' });
    await say('file.edited', {});
    expect(await systemOf('ses_1')).toEqual(['own']);
    await plugin.dispose();
  });

  it('is recognised with the program it starts, and not confused with other files', () => {
    const launcher = { node: '/a "b"/node', script: '/c\\d/bin/hook.cjs' };
    expect(parsePlugin(writePlugin(launcher))).toEqual(launcher);
    expect(parsePlugin('export const X = 1; // hook.cjs')).toBeNull();
  });
});
