import { resolve } from 'node:path';
import { findParts, isStructured } from '../distill/names.ts';
import type { Fact, Probe } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { sha256Hex } from '../model/hash.ts';
import { revealText } from '../model/text.ts';
import { readHead } from '../platform/external-file.ts';
import { pathExists, resolveRealPath } from '../platform/folders.ts';
import { findListener, findPortOf, findRunning, identifyProcess, isListening } from '../platform/listeners.ts';
import type { Machine } from '../platform/machine.ts';
import { expandHome } from '../platform/paths.ts';
import { formatIdentity, isAlive, parseIdentity } from '../platform/process-identity.ts';
import { declares, hasTodo } from './file-claims.ts';
import { findLocked, type LockReader, openLocks } from './lock-files.ts';
import { ENDED } from './outcome.ts';

/** Where and when a session worked. */
interface Work {
  folder: string;
  startedMs: number;
  endedMs: number;
  machine: Machine;
}

const MAX_FILES = 120;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
/** The clock of the files and that of the transcript may differ a little. */
const SLACK_MS = 2000;

/** The facts with probes, by which it can be checked later whether they still hold. Files that changed since the session get none. */
export function addProbes(facts: readonly Fact[], work: Work): Fact[] {
  let [files, bytes] = [0, 0];
  const locks = openLocks(work.folder);
  return facts.map((fact) => {
    if (fact.probe !== undefined) return fact;
    if (fact.kind === 'file' && fact.status !== 'mentioned') {
      if (files++ >= MAX_FILES || bytes > MAX_BYTES) return fact;
      const found = probeFile(fact, work);
      bytes += found?.bytes ?? 0;
      return found === null ? fact : { ...fact, probe: found.probe };
    }
    const probe =
      fact.kind === 'running' ? probeProcess(fact, work) : fact.kind === 'command' ? probeVersion(fact, locks) : null;
    return probe === null ? fact : { ...fact, probe };
  });
}

function probeFile(
  { text, status, detail }: Fact,
  { folder, endedMs, machine }: Work,
): { probe: Probe; bytes: number } | null {
  const path = resolve(folder, expandHome(text, machine));
  if (status === 'deleted') return pathExists(path) ? null : { probe: { path: text, sha256: null }, bytes: 0 };
  const head = readHead(path, MAX_FILE_BYTES);
  if (head === null) return pathExists(path) ? null : { probe: { path: text, sha256: null }, bytes: 0 };
  if (head.size > MAX_FILE_BYTES || head.changedMs > endedMs + SLACK_MS) return null;
  const content = head.bytes.toString('utf8');
  const pick = (value: unknown, isIn: (part: string) => boolean): string[] =>
    Array.isArray(value)
      ? value.filter((part) => typeof part === 'string').filter((part) => isExact(part) && isIn(part))
      : [];
  const standing = isStructured(text) ? findParts(text, content) : [];
  // Of a part that stands there twice, it could not be told which one went.
  const isOne = (part: string): boolean => standing.filter((other) => other === part).length === 1;
  const names = isStructured(text)
    ? pick(detail?.parts, (part) => isOne(part) && declares(text, content, part))
    : pick(detail?.declared, (name) => declares(text, content, name));
  const todos = pick(detail?.todos, (line) => hasTodo(content, line));
  const held = { ...(names.length === 0 ? {} : { names }), ...(todos.length === 0 ? {} : { todos }) };
  return { probe: { path: text, sha256: sha256Hex(head.bytes), ...held }, bytes: head.size };
}

/** Whether a text is sealed as it is: else it would not be found in the file again. */
function isExact(text: string): boolean {
  return revealText(text) === text;
}

/** By the port or the pid that its output named, else by its command, with the port that it then listens on. */
function probeProcess({ text, detail }: Fact, { folder, startedMs }: Work): Probe | null {
  const { port, pid } = { port: null, pid: null, ...detail };
  const open = typeof port === 'number' && isListening(port) === true ? port : null;
  const found =
    (open === null ? null : findListener(open)) ??
    (typeof pid === 'number' ? identifyProcess(pid) : null) ??
    findRunning(text, { folder: resolveRealPath(folder) ?? folder, sinceMs: startedMs - SLACK_MS });
  const own = open === null && found !== null ? findPortOf(found.pid) : null;
  const process = own?.listener ?? found;
  if (open === null && process === null) return null;
  return { process: process === null ? null : formatIdentity(process), port: open ?? own?.port ?? null };
}

/** The handover with its processes as they are now: one that has ended says so, and of one that cannot be seen nothing is known. */
export function lookAtProcesses(handover: Handover): Handover {
  const facts = handover.facts.map((fact) => {
    const { probe, ...rest } = fact;
    const known = probe !== undefined && 'process' in probe ? parseIdentity(probe.process ?? '') : null;
    if (fact.kind !== 'running' || known === null) return fact;
    const state = isAlive(known);
    if (state === 'unknown') return rest;
    return state === 'alive' ? fact : { ...fact, status: ENDED };
  });
  return { ...handover, facts };
}

function probeVersion({ text, status }: Fact, locks: LockReader): Probe | null {
  return status === 'ok' || status === 'unknown' ? findLocked(locks, text) : null;
}
