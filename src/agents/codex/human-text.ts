import { getText, toRows } from '../shared/json.ts';

/** Beginnings of texts that stand in the human's place but were put there by the program. */
const NOT_HUMAN = [
  '# AGENTS.md instructions',
  '<INSTRUCTIONS>',
  '<codex_',
  '<environment_context>',
  '<goal_context>',
  '<hook_',
  '<permissions instructions>',
  '<recommended_plugins>',
  '<skill>',
  '<skills_instructions>',
  '<subagent_notification>',
  '<system',
  '<turn_aborted>',
  '<user_action>',
  '<user_instructions>',
  '<user_shell_command>',
  'Another language model started to solve this problem',
];

/** Editors put what is open in front of what was typed. */
const EDITOR_CONTEXT = '# Context from my IDE setup:';
const TYPED = /^## My request for Codex:[ \t]*\n?/m;

/** What the human typed in a text that stands in the human's place; null when nothing of it is. */
export function findHumanText(text: string): string | null {
  const start = text.trimStart();
  if (start === '' || NOT_HUMAN.some((beginning) => start.startsWith(beginning))) return null;
  if (!start.startsWith(EDITOR_CONTEXT)) return text;
  const typed = TYPED.exec(start);
  return typed === null ? text : start.slice(typed.index + typed[0].length);
}

/** The texts of a list of content items, one after the other. */
export function joinTexts(content: unknown, separator = ''): string {
  return listTexts(content).join(separator);
}

export function listTexts(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  return toRows(content).flatMap((item) => getText(item, 'text') ?? []);
}
