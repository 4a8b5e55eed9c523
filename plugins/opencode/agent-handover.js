// Written by "handover hooks install", removed by "handover hooks uninstall".
//
// OpenCode has no hook commands, so this plugin runs the hook entry at the moments at which other agents do, and keeps
// what it answers for each session. OpenCode asks for the system prompt before every request: that text therefore also
// outlives a compaction. A request waits for an answer that is under way, and never longer than the limit.
import { spawn } from 'node:child_process';

// Filled in when it is installed, with full paths.
const NODE = 'node';
const HOOK = 'hook.cjs';

const LIMIT_MS = 10000;

function run(event, input) {
  return new Promise((resolve) => {
    let answer = '';
    const child = spawn(NODE, [HOOK, 'opencode', event], {
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    const limit = setTimeout(() => {
      child.kill();
      resolve('');
    }, LIMIT_MS);
    const end = (text) => {
      clearTimeout(limit);
      resolve(text);
    };
    child.on('error', () => end(''));
    child.on('close', () => end(answer));
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text) => {
      answer += text;
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(input));
  });
}

function readContext(answer) {
  try {
    const { context } = JSON.parse(answer);
    return typeof context === 'string' && context !== '' ? context : null;
  } catch {
    return null;
  }
}

function readPrompt(parts) {
  const spoken = (parts ?? []).filter((part) => part.type === 'text' && !part.synthetic && !part.ignored);
  return spoken.map((part) => part.text).join('\n');
}

export const AgentHandover = async ({ directory }) => {
  const subAgents = new Set();
  const started = new Set();
  const contexts = new Map();
  const pending = new Map();

  const tell = (event, session, more) => {
    const before = pending.get(session) ?? Promise.resolve();
    const told = before.then(async () => {
      const context = readContext(await run(event, { session_id: session, cwd: directory, ...more }));
      if (context !== null) contexts.set(session, context);
    });
    pending.set(session, told);
    return told;
  };
  const start = (session, source) => {
    if (started.has(session)) return;
    started.add(session);
    void tell('session.created', session, { source });
  };

  return {
    event: async ({ event }) => {
      const { info, sessionID: session = info?.id } = event.properties ?? {};
      if (typeof session !== 'string') return;
      if (event.type === 'session.created' && info?.parentID) subAgents.add(session);
      if (subAgents.has(session)) return;
      if (event.type === 'session.created') start(session, 'startup');
      if (event.type === 'session.idle') await tell('session.idle', session);
      if (event.type === 'session.compacted') void tell('session.compacted', session);
    },
    'chat.message': async ({ sessionID: session }, { parts }) => {
      if (subAgents.has(session)) return;
      start(session, 'resume');
      await tell('chat.message', session, { prompt: readPrompt(parts) });
    },
    'experimental.chat.system.transform': async ({ sessionID: session }, output) => {
      await pending.get(session);
      const context = contexts.get(session);
      if (context !== undefined) output.system.push(context);
    },
    'experimental.session.compacting': async ({ sessionID: session }) => {
      if (!subAgents.has(session)) await tell('session.compacting', session);
    },
    dispose: async () => {
      await Promise.all([...started].map((session) => tell('dispose', session)));
    },
  };
};
