import { parentPort } from 'node:worker_threads';
import { renderSession } from '../../support/rendered.ts';
import {
  agent,
  answer,
  compaction,
  done,
  edit,
  fail,
  plan,
  run,
  scriptSession,
  user,
} from '../../support/scripted-session.ts';

/** Renders the brief of a session in which the same text stands wherever a text can stand. */
function renderEverywhere(text: string): string {
  const events = scriptSession(
    user(text),
    compaction(text),
    agent(text),
    plan({ text, status: 'pending' }),
    edit(text.slice(0, 1000), text, { before: text }),
    fail(text, text),
    run('git commit -m change', text),
    run(`git commit -m "${text}`, text),
    run(`git commit -F - ${text}`),
    run(`gh pr create ${text}`, text),
    done({ kind: 'propose', text }),
    answer(text, text),
    edit('docs/notes.md', text, { change: 'created' }),
    user('Go on with what is left to do'),
    agent(text),
  );
  return renderSession(events, { goal: text }).text;
}

parentPort?.on('message', (text: string) => parentPort?.postMessage(renderEverywhere(text)));
