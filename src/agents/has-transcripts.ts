import { pathExists } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import type { AgentName } from './agent.ts';
import { listTranscripts as listOfAider } from './aider/places.ts';
import { listTranscripts as listOfClaudeCode } from './claude-code/sessions.ts';
import { listTranscripts as listOfCline } from './cline/sessions.ts';
import { listTranscripts as listOfCodex } from './codex/sessions.ts';
import { listTranscripts as listOfCopilot } from './copilot/sessions.ts';
import { listTranscripts as listOfGemini } from './gemini/places.ts';
import { listTranscripts as listOfGoose } from './goose/places.ts';
import { findDatabases as listOfOpencode } from './opencode/places.ts';
import { findFiles as listOfPi } from './pi/places.ts';
import { listTranscripts as listOfQwen } from './qwen/places.ts';

/** Where transcripts of each agent lie, without the reader of any. */
const LISTS: Record<AgentName, (machine: Machine) => Iterable<unknown>> = {
  'claude-code': listOfClaudeCode,
  codex: listOfCodex,
  gemini: listOfGemini,
  opencode: listOfOpencode,
  qwen: listOfQwen,
  copilot: listOfCopilot,
  cline: listOfCline,
  goose: listOfGoose,
  pi: listOfPi,
  aider: (machine) => listOfAider(machine).filter(pathExists),
};

/** Whether this agent left any here. Its reader, which takes long to load, is needed only then. */
export function hasTranscripts(agent: AgentName, machine: Machine): boolean {
  for (const _ of LISTS[agent](machine)) return true;
  return false;
}
