import { DIGIT, LINE_END, LINE_START } from '../names/characters.ts';

/** The summary that the agent itself wrote at a compaction, and its numbered sections by name, in lower case. */
export interface Summary {
  body: string;
  sections: ReadonlyMap<string, string>;
}

const CLOSING =
  /\n(?:If you need specific details from before compaction|Please continue the conversation|Continue the conversation)/;
const HEADING = new RegExp(
  [
    String.raw`${LINE_START}\s{0,3}(?:#+\s*|\*\*)?(${DIGIT}{1,2})\.\s*\*{0,2}([A-Z][^\n:*]{3,60}?)\*{0,2}:?\*{0,2}\s*${LINE_END}`,
    String.raw`${LINE_START}\s{0,3}(${DIGIT}{1,2})\.\s+\*{0,2}([A-Z][A-Za-z ,&\/]{3,60}?)\*{0,2}:`,
  ].join('|'),
  'gu',
);

/** Without the analysis before it and the words to the model after it. */
export function parseSummary(text: string): Summary {
  const start = text.indexOf('\nSummary:');
  const opened = start === -1 ? text : text.slice(start);
  const end = opened.search(CLOSING);
  const body = end === -1 ? opened : opened.slice(0, end);
  const headings = [...body.matchAll(HEADING)];
  const sections = new Map<string, string>();
  for (const [index, heading] of headings.entries()) {
    const name = (heading[2] ?? heading[4] ?? '').trim().toLowerCase();
    const until = headings[index + 1]?.index ?? body.length;
    if (!sections.has(name)) sections.set(name, body.slice(heading.index + heading[0].length, until));
  }
  return { body, sections };
}

export function findSection(summary: Summary, beginning: string): string {
  for (const [name, text] of summary.sections) if (name.startsWith(beginning)) return text;
  return '';
}
