import { dropReminders } from '../shared/message-text.ts';

const OPENING = /^This session is being continued from a previous conversation[^\n]*\n+/;
const CLOSING =
  /\n(?:If you need specific details from before compaction|(?:Please c|C)ontinue the conversation from where (?:we|it) left (?:it )?off without asking)/;
/** What Claude Code says after a summary is no longer than this. */
const CLOSING_CHARACTERS = 3000;

/** What the model wrote when it compacted, without the words by which Claude Code hands it to the next model. */
export function readSummaryText(text: string): string {
  const told = dropReminders(text).replace(OPENING, '');
  const from = Math.max(0, told.length - CLOSING_CHARACTERS);
  const closing = told.slice(from).search(CLOSING);
  return (closing === -1 ? told : told.slice(0, from + closing)).trim();
}
