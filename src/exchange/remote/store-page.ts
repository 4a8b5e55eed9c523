import * as v from 'valibot';
import { catchIf, isHandoverError } from '../../errors.ts';
import { sealHandover } from '../../handover/seal.ts';
import { FactId } from '../../model/fact.ts';
import { findWriter, type Handover, HandoverDraft, SYNC_FORMAT } from '../../model/handover.ts';
import { sha256Hex } from '../../model/hash.ts';
import { cleanText } from '../../model/text.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import { forgetHandover, hasHandover, readIntact, saveMigratedHandover } from '../../store/handovers.ts';
import { appendEntry, identifyEntry } from '../../store/journal.ts';
import { saveImport } from '../../store/pending-imports.ts';
import { acceptHandover } from '../bundle/accept-import.ts';
import { parseContent } from '../bundle/content.ts';
import { fingerprint } from '../bundle/minisign.ts';
import { nameBody, openEntries, openSealed, PAGE_LIMITS, type Page, type PageEntry } from './page.ts';
import type { Missing } from './state.ts';
import { copyEntry, describeOrigin, nameEntry, type SyncRun } from './sync-run.ts';

type Of<Kind extends PageEntry['kind']> = Extract<PageEntry, { kind: Kind }>;

const OTHERS_ENCRYPT =
  'others encrypt what they store there, and what you send can be read there: remove the remote, and add it again with --encrypt-to';

/** Stores the content of a page of a trusted signer. Safe to repeat: after a kill the page is read again. */
export async function storePage(run: SyncRun, page: Page): Promise<void> {
  const entries = await openEntries(page, run.opener);
  const where = `page ${page.number} of ${nameSigner(run, page)}`;
  const isSealed = !Array.isArray(page.content) && page.writer !== run.writer;
  if (isSealed && run.options.recipients.length === 0) run.note(OTHERS_ENCRYPT);
  if (entries === null) {
    const { sealed } = run.state;
    sealed[page.writer] = (sealed[page.writer] ?? 0) + 1;
    return run.note(`${where} is encrypted to other keys, or damaged, and was left out`);
  }
  if (entries === 'damaged') return run.note(`${where} is damaged: its content; it was left out`);
  if (page.writer === run.writer) notePublished(run, entries);
  const gone = new Set(entries.flatMap((entry) => (entry.kind === 'forgotten' ? [entry.id] : [])));
  for (const [index, entry] of entries.entries())
    if (entry.kind === 'forgotten') applyTombstone(run, page, { entry, index });
  const named = entries.flatMap((entry) => (entry.kind === 'handover' && !gone.has(entry.id) ? [entry] : []));
  await storeHandovers(run, page, named);
  for (const [index, entry] of entries.entries())
    if (entry.kind === 'journal') storeJournalEntry(run, page, { entry, index });
}

function notePublished({ published, publishedBodies }: SyncRun, entries: readonly PageEntry[]): void {
  for (const entry of entries) {
    published.add(nameEntry(entry));
    if (entry.kind === 'handover') publishedBodies.add(entry.body);
  }
}

/** The signer's name on the trust list, else the name that it claims. */
export function nameSigner(run: SyncRun, { writer, signer }: Pick<Page, 'writer' | 'signer'>): string {
  return writer === run.writer ? run.options.keys.name : (run.trusted.get(writer)?.name ?? signer);
}

/** Applied if it is by the handover's own writer or by this person. Recorded even if the handover was never here. */
function applyTombstone(run: SyncRun, page: Page, { entry, index }: { entry: Of<'forgotten'>; index: number }): void {
  const { store, beforeForget } = run.options;
  const { id } = entry;
  const { writer, project, number } = page;
  const here = readIntact(store, id);
  run.state.missing = run.state.missing.filter((one) => one.id !== id || one.writer !== writer);
  if (here !== null) {
    const owner = findWriter(here) ?? run.writer;
    const name = nameSigner(run, page);
    if (owner === writer || run.self.has(writer)) {
      beforeForget([id]);
      if (forgetHandover(store, id, `forgotten by ${name}`)) run.report.received.forgotten++;
    } else run.note(`${name} forgot ${id}, which is not ${name}’s: it is kept here`);
  } else if (!run.isForgotten(id, writer)) {
    const detail = { project, from: describeOrigin({ writer, project }, number, index) };
    appendEntry(store, { event: 'forgotten', subject: id, detail });
  }
}

/** Handovers that are here stay as they are. Every sync asks again for those that are missing. */
async function storeHandovers(run: SyncRun, page: Page, entries: readonly Of<'handover'>[]): Promise<void> {
  const wanted = entries.filter((entry) => isWanted(run, page, entry.id));
  if (wanted.length > 0) await storeBodies(run, page, wanted);
}

function isWanted(run: SyncRun, page: Page, id: string): boolean {
  const { store } = run.options;
  if (run.isForgotten(id, page.writer)) return false;
  if (!hasHandover(store, id)) return true;
  const present = readIntact(store, id);
  if (page.writer === run.writer && present !== null) noteSave(run, present);
  const isSame = page.writer === run.writer || present === null || findWriter(present) === page.writer;
  if (!isSame) run.note(`${nameSigner(run, page)} has another handover with the id ${id}; the one here is kept`);
  return false;
}

/** A sync that was killed may have stored an own handover without its journal entry; without that it would not be sent again. */
function noteSave(run: SyncRun, { id, checksum }: Handover): void {
  if (run.isNewSave(id)) appendEntry(run.options.store, { event: 'migrated', subject: id, detail: { checksum } });
}

/** Fetches and stores these handovers of a page, in groups that fit into one import. */
export async function storeBodies(
  run: SyncRun,
  page: Pick<Page, 'writer' | 'project' | 'signer' | 'digest'>,
  wanted: readonly { id: string; body: string }[],
): Promise<void> {
  const { remote } = run.options;
  const { writer, project } = page;
  const left = new Map(wanted.map(({ id, body }) => [body, id]));
  let group: Handover[] = [];
  let size = 0;
  for await (const { name, bytes } of remote.readBodies(project, [...left.keys()])) {
    const id = left.get(name);
    const handover = id === undefined || nameBody(id, bytes) !== name ? null : await openBody(run, bytes);
    if (handover === null || handover.id !== id || handover.project.id !== project) continue;
    left.delete(name);
    group.push(accept(run, page, handover));
    size += bytes.length;
    if (size < PAGE_LIMITS.bodies) continue;
    saveGroup(run, page, group);
    [group, size] = [[], 0];
  }
  if (group.length > 0) saveGroup(run, page, group);
  const missing = [...left].map(([name, id]): Missing => ({ writer, project, name, id }));
  const known = new Set(run.state.missing.map(({ name }) => name));
  run.state.missing.push(...missing.filter(({ name }) => !known.has(name)));
}

/** Own handovers that come back, after a restore or from another store with the same key, are stored as own ones. */
function saveGroup(run: SyncRun, page: Pick<Page, 'writer' | 'project' | 'digest'>, taken: readonly Handover[]): void {
  const { store, name } = run.options;
  const { writer, project, digest: of } = page;
  // It may have been forgotten meanwhile.
  const handovers = taken.filter(({ id }) => !run.isForgotten(id, writer));
  if (writer === run.writer)
    for (const handover of handovers) {
      run.isNewSave(handover.id);
      saveMigratedHandover(store, handover);
    }
  else {
    const digest = sha256Hex(`${of} ${handovers.map(({ id }) => id).join(' ')}`);
    saveImport(store, { digest, detail: { remote: name, writer, project }, handovers, replace: [] });
  }
  run.report.received.handovers += handovers.length;
}

const AGE = Buffer.from('age-encryption.org/v1\n');

/** Null for anything that is not a handover, or is encrypted to others. */
async function openBody(run: SyncRun, bytes: Buffer): Promise<Handover | null> {
  const isSealed = bytes.subarray(0, AGE.length).equals(AGE);
  const line = isSealed ? await openSealed(bytes, run.opener) : bytes;
  if (line === null) return null;
  return catchIf(isHandoverError, null, () => parseContent(line, 1)[0] ?? null);
}

/** Like an import, except that work of the same person on another machine counts as done here. */
function accept(run: SyncRun, page: Pick<Page, 'writer' | 'signer'>, handover: Handover): Handover {
  const { id, imported: before, previous } = handover;
  const key = run.trusted.get(page.writer)?.key ?? run.options.keys.secret;
  const signer = { name: nameSigner(run, page), key: fingerprint(key) };
  const { detail: _, ...earlier } = before ?? {};
  const origin = before === undefined ? {} : { earlier };
  const redactor = run.options.makeRedactor();
  if (!run.self.has(page.writer)) {
    const detail = before === undefined ? {} : { detail: origin };
    const imported = { format: SYNC_FORMAT, id, signer, ...detail };
    return acceptHandover(handover, { imported, inBundle: new Set(previous === null ? [] : [previous]), redactor });
  }
  const { checksum: _checksum, ...draft } = handover;
  const imported = { format: SYNC_FORMAT, id, detail: { ...origin, signer } };
  return sealHandover(v.parse(HandoverDraft, redactDraft({ ...draft, imported }, redactor)));
}

const ShortText = v.pipe(v.string(), v.maxLength(200));
const MAX_SESSION = 1000;

/** Appends an entry once, with its origin. Its reason is cleaned; the fields that identify it stay. */
function storeJournalEntry(run: SyncRun, page: Page, { entry, index }: { entry: Of<'journal'>; index: number }): void {
  const { fact, session, reason, detail = {} } = entry.entry;
  const { by, move } = detail;
  const isPlain = [by, move].every((text) => text === undefined || v.is(ShortText, text));
  const isShort = (session?.length ?? 0) <= MAX_SESSION && (fact === undefined || v.is(FactId, fact));
  if (!isPlain || !isShort) {
    run.note(`${nameSigner(run, page)} sent an entry that cannot be read; it was left out`);
    return;
  }
  if (!run.isNewEntry(identifyEntry(entry.entry))) return;
  const { writer, project, number } = page;
  const redactor = run.options.makeRedactor();
  const why = reason === undefined ? '' : redactor.redactText(cleanText(reason)).trim();
  const copy = copyEntry(entry.entry, project, why);
  const from = describeOrigin({ writer, project }, number, index);
  appendEntry(run.options.store, { ...copy, detail: { ...copy.detail, from } });
  run.report.received.marks++;
  if (!run.report.projects.includes(project)) run.report.projects.push(project);
}
