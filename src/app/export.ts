import { dirname } from 'node:path';
import { notFoundError } from '../errors.ts';
import type { Encryption } from '../exchange/bundle/age.ts';
import { formatContent } from '../exchange/bundle/content.ts';
import { requireSigner } from '../exchange/bundle/own-keys.ts';
import { packBundle } from '../exchange/bundle/pack.ts';
import { prepareExport } from '../exchange/bundle/prepare-export.ts';
import type { ViewFormat } from '../exchange/bundle/write-view.ts';
import type { Reader } from '../handover/brief/reader.ts';
import { stateMarks } from '../handover/marks.ts';
import type { FactKind } from '../model/fact.ts';
import { type Handover, isForeign } from '../model/handover.ts';
import { formatTimestamp } from '../model/time.ts';
import { measureRegularFile } from '../platform/durable-file.ts';
import { isFolder } from '../platform/folders.ts';
import { identifyProject } from '../platform/project.ts';
import { prepareRedactors } from '../redact/open-redactor.ts';
import type { Filter } from '../store/catalog.ts';
import { requireHandover } from '../store/find-handover.ts';
import { rememberMarks } from '../store/marks.ts';
import { type Context, findStore, withCatalog } from './context.ts';
import { pickToSend, suggestNext } from './find-handover.ts';

export type ExportFormat = 'bundle' | ViewFormat;

/** The handovers in the form in which they are exported, oldest first; without ids the newest here. Imported ones only when named. */
export async function selectForExport(
  context: Context,
  selection: {
    ids: readonly string[] | undefined;
    all: boolean;
    allProjects: boolean;
    sinceMs: number | undefined;
    /** Only facts of these kinds; null for all. */
    only: ReadonlySet<FactKind> | null;
    dryRun: boolean;
  },
): Promise<Handover[]> {
  const { ids, all, allProjects, sinceMs, only, dryRun } = selection;
  const { machine } = context;
  const selected =
    all || sinceMs !== undefined
      ? await findOwn(context, {
          ...(all || allProjects ? {} : { project: { id: identifyProject('.', machine).id } }),
          ...(sinceMs === undefined ? {} : { sinceMs, byWork: true }),
        })
      : await pickAll(context, ids ?? [undefined], allProjects);
  selected.sort((a, b) => (a.created_at + a.id < b.created_at + b.id ? -1 : 1));
  const makeRedactor = prepareRedactors(machine, { folder: machine.cwd, makesKey: !dryRun });
  const marksOf = rememberMarks(findStore(context));
  return selected.map((handover) => {
    const facts = stateMarks(handover.facts, handover, marksOf(handover.project.id));
    return prepareExport({ ...handover, facts }, { machine, only, redactor: makeRedactor() });
  });
}

async function pickAll(
  context: Context,
  ids: readonly (string | undefined)[],
  allProjects: boolean,
): Promise<Handover[]> {
  const picked = new Map<string, Handover>();
  for (const words of ids) {
    const handover = await pickToSend(context, words, { allProjects });
    picked.set(handover.id, handover);
  }
  return [...picked.values()];
}

async function findOwn(context: Context, filter: Filter): Promise<Handover[]> {
  const store = findStore(context);
  const found = await withCatalog(context, store, async (catalog) => {
    const handovers: Handover[] = [];
    for await (const { id } of catalog.rows(filter)) handovers.push(requireHandover(store, id));
    return handovers;
  });
  const own = found.filter((handover) => !isForeign(handover));
  const imported = found.length - own.length;
  const text = `${imported} imported left out; to export one, name it with --id`;
  if (imported > 0) context.notify({ level: 'note', text });
  if (own.length > 0) return own;
  const folder = filter.project === undefined ? undefined : '.';
  throw notFoundError('no handover matches', await suggestNext(store, { folder }));
}

export interface ExportOptions {
  format: ExportFormat;
  reader: Reader;
  sign: boolean;
  encryption: Encryption | null;
  expiresAt: string | null;
}

/** The bytes of the exported file. Throws when there is no key to sign with. */
export async function writeExport(
  context: Context,
  handovers: readonly Handover[],
  options: ExportOptions,
): Promise<Buffer> {
  const { format, reader, sign, encryption, expiresAt } = options;
  const { machine } = context;
  const signer = sign ? requireSigner(machine) : null;
  if (format !== 'bundle') {
    const { writeView } = await import('../exchange/bundle/write-view.ts');
    return Buffer.from(writeView(handovers, { format, reader }, { machine, signer, encryption }));
  }
  const createdAt = formatTimestamp(machine.clock.now());
  return await packBundle(findStore(context), handovers, { createdAt, expiresAt, signer, encryption });
}

/** The content of the export as text, neither signed nor encrypted. */
export async function previewExport(
  { machine }: Context,
  handovers: readonly Handover[],
  { format, reader }: Pick<ExportOptions, 'format' | 'reader'>,
): Promise<string> {
  if (format === 'bundle') return formatContent(handovers).toString('utf8');
  const { writeView } = await import('../exchange/bundle/write-view.ts');
  return writeView(handovers, { format, reader }, { machine, signer: null, encryption: null });
}

/** Throws for a link or a missing folder. Called before anything is read or asked. */
export function assertExportFile(path: string): void {
  measureRegularFile(path);
  if (isFolder(dirname(path))) return;
  const hint = 'Create it, or choose another file with --output. Nothing was written.';
  throw notFoundError(`there is no folder ${dirname(path)}`, hint);
}
