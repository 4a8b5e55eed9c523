import { baseName } from '../model/paths.ts';
import type { ProjectMatch } from '../store/catalog.ts';
import type { FactFilter } from './finder.ts';
import type { SearchQuery } from './query.ts';
import type { Searched, SearchedFact, SearchedHandover } from './searched.ts';
import { foldText } from './tokens.ts';

/** Whether a text is of what the query is limited to. Both finders hold what they found against this. */
export function passes(query: SearchQuery, searched: Searched): boolean {
  if (query.file !== undefined && !namesFile(searched.text, query.file)) return false;
  if (searched.what === 'note') return !isOfHandovers(query) && isSince(query, searched.at);
  if (query.kinds !== undefined && (searched.what !== 'fact' || !query.kinds.includes(searched.fact.kind)))
    return false;
  return passesHandover(query, searched.handover);
}

/** Notes have no kind and no agent, and belong to the project that is searched from. */
export function isOfHandovers({ kinds, agent }: SearchQuery): boolean {
  return kinds !== undefined || agent !== undefined;
}

export function passesFact(filter: FactFilter, fact: SearchedFact, handover: SearchedHandover): boolean {
  if (filter.kinds !== undefined && !filter.kinds.includes(fact.kind)) return false;
  if (filter.ids !== undefined && !filter.ids.includes(fact.id)) return false;
  const { fileName } = filter;
  if (fileName !== undefined && (fact.kind !== 'file' || nameOf(fact.text) !== fileName.toLowerCase()))
    return false;
  return passesHandover(filter, handover);
}

function nameOf(path: string): string {
  return baseName(path).toLowerCase();
}

export function passesHandover(
  { agent, project, sinceMs }: Pick<SearchQuery, 'agent' | 'project' | 'sinceMs'>,
  handover: SearchedHandover,
): boolean {
  if (agent !== undefined && handover.agent.toLowerCase() !== agent.toLowerCase()) return false;
  if (project !== undefined && !isOfProject(handover, project)) return false;
  return isSince({ sinceMs }, handover.at);
}

function isOfProject({ project, root }: SearchedHandover, match: ProjectMatch): boolean {
  return (
    project.id === match.id || project.name.toLowerCase() === match.name?.toLowerCase() || root === match.root
  );
}

function isSince({ sinceMs }: { sinceMs?: number | undefined }, at: string): boolean {
  return sinceMs === undefined || Date.parse(at) >= sinceMs;
}

/** A path is named by any end of it that begins with a whole part. */
export function namesFile(text: string, file: string): boolean {
  const [folded, wanted] = [foldText(text), foldText(file).replace(/^\.?\//, '')];
  for (let at = folded.indexOf(wanted); at >= 0 && wanted !== ''; at = folded.indexOf(wanted, at + 1))
    if (
      !/[\p{L}\p{N}_.-]/u.test(folded.charAt(at - 1)) &&
      !/[\p{L}\p{N}_]/u.test(folded.charAt(at + wanted.length))
    )
      return true;
  return false;
}
