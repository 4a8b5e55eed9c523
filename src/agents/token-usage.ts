import { readLines } from '../platform/lines.ts';
import type { AgentName, FoundSession } from './agent.ts';
import { getNumber, getRow, getText, parseRow, type Row } from './shared/json.ts';

/** The tokens of one request, and its key: an agent records the same request on several rows. */
type Usage = { request: string; tokens: number };

/** The agents whose transcripts record the tokens of each request, and how to read such a row. */
const FORMATS: Partial<Record<AgentName, { mark: Buffer; read(row: Row): Usage | null }>> = {
  'claude-code': {
    mark: Buffer.from('"usage":{'),
    read: (row) => {
      const message = getRow(row, 'message');
      const usage = getRow(message, 'usage');
      const tokens = sum(usage, 'input_tokens', 'cache_creation_input_tokens', 'output_tokens');
      return { request: getText(message, 'id') ?? getText(row, 'uuid') ?? '', tokens };
    },
  },
  codex: {
    mark: Buffer.from('"token_count"'),
    read: (row) => {
      const info = getRow(getRow(row, 'payload'), 'info');
      const usage = getRow(info, 'last_token_usage');
      const total = getNumber(getRow(info, 'total_token_usage'), 'total_tokens');
      if (total === null) return null;
      return {
        request: String(total),
        tokens: sum(usage, 'input_tokens', 'output_tokens') - sum(usage, 'cached_input_tokens'),
      };
    },
  },
};

function sum(usage: Row, ...keys: readonly string[]): number {
  return keys.reduce((total, key) => total + (getNumber(usage, key) ?? 0), 0);
}

/**
 * The tokens that requests took from one line of a transcript to another: those that were new to the model and those that it
 * wrote, without what a cache had. Null where the transcript does not say.
 */
export function countTokens({ agent, path }: FoundSession, { from, to }: { from: number; to: number }): number | null {
  const format = FORMATS[agent];
  if (format === undefined) return null;
  const requests = new Map<string, number>();
  for (const { bytes, number } of readLines(path)) {
    if (number > to) break;
    if (number < from || !bytes.includes(format.mark)) continue;
    const row = parseRow(bytes.toString('utf8'));
    const usage = row === null ? null : format.read(row);
    if (usage !== null) requests.set(usage.request, Math.max(usage.tokens, requests.get(usage.request) ?? 0));
  }
  return requests.size === 0 ? null : [...requests.values()].reduce((total, tokens) => total + tokens, 0);
}
