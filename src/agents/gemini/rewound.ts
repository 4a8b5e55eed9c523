import { readLines } from '../../platform/lines.ts';
import { getText, parseRow } from '../json.ts';
import { peekText, toKey } from '../peek.ts';

const REWIND = Buffer.from('{"$rewindTo":');
const MESSAGE = Buffer.from('{"id":"');
const ID = toKey('id');

/**
 * The ids of messages that were taken back: a rewind takes the message that it names and all after it. One that names no
 * message is passed over. Looks at bytes.
 */
export function findRewoundMessages(path: string, until: number): Set<string> {
  const live = new Set<string>();
  const dead = new Set<string>();
  for (const { bytes } of readLines(path, { until })) {
    if (bytes.subarray(0, MESSAGE.length).equals(MESSAGE)) {
      const id = peekText(bytes, ID);
      if (dead.has(id) && parseRow(bytes.toString('utf8')) === null) continue;
      live.add(id);
      dead.delete(id);
    } else if (bytes.subarray(0, REWIND.length).equals(REWIND)) {
      const target = getText(parseRow(bytes.toString('utf8')) ?? {}, '$rewindTo');
      if (target === null || !live.has(target)) continue;
      const ids = [...live];
      for (const id of ids.slice(ids.indexOf(target))) {
        live.delete(id);
        dead.add(id);
      }
    }
  }
  return dead;
}
