import type { FileEdit } from '../model/event.ts';
import { joinLedgers, type Ledger, noteEdit, noteFile, noteText, openLedger, type Place } from './ledger.ts';

/** Something that is to be looked through for names. */
type Held =
  | { kind: 'text'; text: string; place: Place }
  | { kind: 'file'; path: string; place: Place }
  | { kind: 'edit'; edit: FileEdit; call: number };

/**
 * A part of a session, so many calls long, with the names that it brought up. Names that only earlier parts brought up are
 * worth next to nothing, and looking for names is most of the work: so a part is looked through only when it is certain to
 * be one of the last.
 */
export interface Stretch {
  held: Held[];
  /** Of the texts that are held, in characters. */
  length: number;
  ledger: Ledger;
}

const CALLS = 500;
const KEPT = 4;
/** Whatever is longer is looked through at once: memory is worth more than time. */
const MOST_HELD = 4_000_000;

export function openStretches(): Stretch[] {
  return [openStretch()];
}

function openStretch(): Stretch {
  return { held: [], length: 0, ledger: openLedger() };
}

/** To be told of each call before what belongs to it is held. */
export function countCall(stretches: Stretch[], calls: number): void {
  if (calls % CALLS !== 0) return;
  stretches.push(openStretch());
  if (stretches.length > KEPT) stretches.shift();
}

export function hold(stretches: readonly Stretch[], held: Held): void {
  const stretch = stretches.at(-1);
  if (stretch === undefined) return;
  stretch.held.push(held);
  if (held.kind === 'text') stretch.length += held.text.length;
  else if (held.kind === 'edit') stretch.length += held.edit.before.length + held.edit.after.length;
  if (stretch.length > MOST_HELD) settleStretch(stretch);
}

/** Looks through all that is held. */
export function settleStretch(stretch: Stretch): void {
  const { held, ledger } = stretch;
  stretch.held = [];
  stretch.length = 0;
  for (const one of held) {
    if (one.kind === 'text') noteText(ledger, one.text, one.place);
    else if (one.kind === 'file') noteFile(ledger, one.path, one.place);
    else noteEdit(ledger, one.edit, one.call);
  }
}

/** The names of all stretches. */
export function joinStretches(stretches: readonly Stretch[]): Ledger {
  return joinLedgers(stretches.map((stretch) => stretch.ledger));
}
