import type { RecordedRequest } from './model/server.ts';

/** From the heading to the end of the message: which facts are in it is for the scenario to say. */
const BRIEF =
  /# Handover \d{8}-\d{6}-[a-z0-9]{4} for [\s\S]*?(?=# Handover \d{8}-\d{6}-[a-z0-9]{4} for |(?![\s\S]))/g;

/** Every brief that a request holds, in whichever message. */
export function readBriefs({ messages }: RecordedRequest): string[] {
  return messages
    .filter(({ role }) => role !== 'call' && role !== 'tool')
    .flatMap(({ text }) => text.match(BRIEF) ?? []);
}
