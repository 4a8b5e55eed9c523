import * as v from 'valibot';
import { sealHandover } from '../../handover/seal.ts';
import type { Fact, FactKind, Probe } from '../../model/fact.ts';
import { type Handover, HandoverDraft } from '../../model/handover.ts';
import { mapTexts } from '../../model/json.ts';
import { revealControls } from '../../model/text.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import type { Redactor } from '../../redact/redactor.ts';

export interface ExportOptions {
  machine: Machine;
  redactor: Redactor;
  /** Only facts of these kinds are exported, and of the prose only the title; null for everything. */
  only: ReadonlySet<FactKind> | null;
}

/** Replaces the project's root, which would reveal who the user is. */
const ROOT = '.';

/** For others: paths relative to the project, no home folder, terminal or transcript; redacted again and resealed. */
export function prepareExport(handover: Handover, { only, machine, redactor }: ExportOptions): Handover {
  const { checksum: _, chain, quality, ...rest } = handover;
  const facts = only === null ? rest.facts : rest.facts.filter(({ kind }) => only.has(kind));
  const { git, folder } = rest.workspace;
  const draft: HandoverDraft = {
    ...rest,
    summary: only === null ? rest.summary : '',
    facts: facts.map(dropOutsideProbe),
    project: { ...rest.project, remote: hideLocalRemote(rest.project.remote) },
    session: { ...rest.session, transcript: null, terminal: null },
    workspace: { root: ROOT, folder: revealControls(folder), worktree: null, git: only === null ? git : null },
    ...(chain === undefined || only !== null ? {} : { chain }),
    quality: only === null ? quality : null,
  };
  return sealHandover(redactDraft(hidePathsIn(draft, makePathHider(handover, machine)), redactor));
}

function hidePathsIn(draft: HandoverDraft, hidePaths: (text: string) => string): HandoverDraft {
  const { schema, id, created_at, previous, ...rest } = draft;
  const changed = v.parse(v.looseObject({}), mapTexts(rest, hidePaths));
  return v.parse(HandoverDraft, { ...changed, schema, id, created_at, previous });
}

function dropOutsideProbe(fact: Fact): Fact {
  const { probe, ...rest } = fact;
  return probe !== undefined && isOfProject(probe) ? fact : rest;
}

/** Whether a probe is about a file of the project. Others are about this machine. */
export function isOfProject(probe: Probe): boolean {
  if ('port' in probe) return false;
  return !isOutside('path' in probe ? probe.path : probe.lock);
}

export function isOutside(path: string): boolean {
  return /^(?:[/~\\]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)|\0/.test(path);
}

function hideLocalRemote(remote: string | null): string | null {
  return remote === null || isOutside(remote) || remote.startsWith('file:') ? null : remote;
}

/** Replaces the root and the home folder wherever they occur in a text. */
export function makePathHider({ workspace }: Pick<Handover, 'workspace'>, machine: Machine): (text: string) => string {
  const roots = new Set([workspace.root, expandHome(workspace.root, machine)]);
  const places: PathToHide[] = [
    ...[...roots].map((path) => ({ path, drops: true, itself: ROOT, goesOn: /^(?:[\w-]|\.\w)/ })),
    { path: machine.home ?? '', drops: false, itself: '~', goesOn: /^\w/ },
  ].filter(({ path }) => path.length > 2);
  return (text) => places.reduce(hidePath, text);
}

interface PathToHide {
  path: string;
  /** Its replacement. */
  itself: string;
  /** Whether paths inside become relative instead. */
  drops: boolean;
  /** Matches what follows when the path is only the beginning of another name. */
  goesOn: RegExp;
}

function hidePath(text: string, { path, itself, drops, goesOn }: PathToHide): string {
  let out = '';
  let from = 0;
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, from)) {
    const end = at + path.length;
    const isOther = goesOn.test(text.slice(end, end + 2));
    const isDropped = drops && /[/\\]/.test(text.charAt(end));
    out += text.slice(from, at) + (isOther ? path : isDropped ? '' : itself);
    from = isDropped ? end + 1 : end;
  }
  return out + text.slice(from);
}
