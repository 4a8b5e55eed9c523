// What every command prints with --json. Each document, and each in an array, has a `schema` of `NAME/VERSION`. `npm run
// schemas` writes schemas/commands from this, and a test compares what the commands really print with it.
import * as v from 'valibot';

const text = v.string();
const number = v.number();
const yes = v.boolean();
const texts = v.array(text);
const { array, nullable, object: loose, optional, picklist, strictObject: object, union } = v;
const maybe = nullable(text);

const project = object({ id: text, name: text });
const redactions = array(object({ kind: text, count: number }));
const commit = object({ hash: text, at: text, subject: text });
const speaker = picklist(['human', 'agent', 'tool']);

/** A sealed record, which schemas/handover.json describes. */
const handover = loose({ schema: v.literal('handover/1'), id: text });

const row = {
  id: text,
  created_at: text,
  agent: text,
  project,
  root: text,
  title: text,
  next: texts,
  session: maybe,
  terminal: maybe,
  last_at: maybe,
  noted_at: maybe,
  score: nullable(number),
  imported: optional(object({ signer: maybe })),
};

const origin = { handover: text, agent: text, session: maybe, project, at: text, title: text };
const fact = { id: text, kind: text, status: maybe, text };
const ended = array(object({ ...fact, reason: text }));
const change = object({ before: maybe, after: maybe });
const file = object({ path: text, change: text });
const mark = { fact: text, mark: text, in: text, project: text, changed: yes };
const brief = { target: text, tokens: number, text };
const report = { outcome: text, destination: text, commit: maybe };
const key = { name: text, public_key: text, fingerprint: text };
const own = { ...key, recipient: text };
const place = { name: text, url: text, projects: texts, agents: texts, recipients: texts };
const synced = object({ handovers: number, marks: number, forgotten: number });
const hookChange = object({ agent: text, path: text, holds: text, change: text });
const blockChange = object({ file: text, outcome: text, note: maybe });
const uncaptured = { agent: text, session: text, project: nullable(project), at: text, title: maybe, open: text };
const passage = object({ line: number, speaker, at: text, text, open: text });
const index = picklist(['current', 'behind', 'missing']);
const besides = {
  uncaptured: array(object({ ...uncaptured, passages: array(passage), more: number })),
  captured_texts: array(object({ ...uncaptured, passages: array(passage), more: number })),
  ...{ uncaptured_has_more: yes, session_index: index },
};
const covered = { sessions: number, behind: number, unread: number, damaged: number, by: text };

const custody = {
  ...{ task: text, project: text, number, state: picklist(['offered', 'held', 'released', 'done']) },
  ...{ holder: text, writer: text, to: maybe, label: maybe, until: maybe, at: text, offered_at: text },
};
const late = nullable(object({ holder: text, number, at: text }));
const fenced = { task: text, fence: number, remote: text };
const held = object({ ...fenced, title: maybe, until: maybe, over: yes, late });

const median = object({ median: number, low: nullable(number), high: nullable(number) });
const side = object({
  ...{ successors: number, enough: yes, with_debt: number, found_again: nullable(median) },
  ...{ calls: nullable(median), tokens: nullable(median), minutes: nullable(median) },
});
const successor = {
  ...{ session: text, agent: text, project, handover: text, title: text, at: text, follows: text },
  ...{ part: number, line: number, calls: number, given: picklist(['brief', 'hint', 'nothing']), found_again: number },
  ...{ files: number, commands: number, errors: number, rejected: number, questions: number, open: text },
  first_edit: nullable(object({ line: number, calls: number, minutes: number, tokens: nullable(number) })),
};

/** By command: the forms of its document. */
const FORMS = {
  save: [{ id: text, created_at: text, path: text, facts: number }],
  sessions: [
    {
      ...{ agent: text, id: text, cwd: maybe, title: maybe, path: text },
      ...{ started_at: maybe, changed_at: text, bytes: number },
    },
    {
      ...{ agent: text, id: text, cwd: maybe, title: maybe, path: text, gone: yes },
      passages: array(object({ at: maybe, tool: maybe, line: number, offset: nullable(number), speaker, text })),
    },
  ],
  list: [{ ...row, status: optional(text), late: optional(text) }],
  select: [row],
  backfill: [
    {
      ...{ agent: text, session: text, path: text, changed_at: text },
      ...{ outcome: text, handover: optional(text), reason: optional(text) },
    },
    { sessions: number, bytes: number, agents: v.record(text, number) },
  ],
  search: [
    {
      ...{ query: text, by: text, index_failure: optional(text), omitted: number, as_typed: v.boolean() },
      instead: optional(array(object({ typed: text, found: array(text) }))),
      sessions: optional(loose({ by: text, behind: number, unread: number, damaged: number })),
      meaning: optional(object({ texts: number, missing: number, trouble: maybe })),
      hits: array(
        object({
          what: picklist(['fact', 'handover', 'note', 'session']),
          ...{ id: text, text, kind: optional(text), said: optional(yes), trust: optional(text) },
          ...{ status: optional(text), standing: optional(text), because: optional(text) },
          from: object({
            ...{ handover: optional(text), agent: optional(text), session: optional(text) },
            ...{ project: optional(project), at: text, line: optional(number), speaker: optional(speaker) },
            ...{ transcript: optional(text), offset: optional(number), gone: optional(yes) },
            ...{ handovers: optional(number), imported: optional(yes) },
          }),
          ...{ open: text, near: optional(yes), more: optional(number), score: number },
        }),
      ),
    },
    { texts: number, embedded: number, forgotten: number },
    covered,
  ],
  show: [
    {
      id: text,
      transcript: object({ state: text, agent: text, session: maybe, path: maybe }),
      facts: array(
        object({
          ...{ id: text, kind: text, text, trust: text, origin: text },
          sources: array(loose({ state: text, events: array(loose({ type: text })) })),
        }),
      ),
    },
  ],
  offer: [{ ...custody, remote: text }],
  take: [{ ...fenced, until: maybe, agent: text, folder: text, program: text, args: texts, prompt: text }],
  release: [{ ...fenced, outcome: picklist(['released', 'done']) }],
  who: [
    { task: text, open: yes, late, state: nullable(object(custody)), ours: optional(yes) },
    {
      held: array(held),
      open: array(object(custody)),
    },
  ],
  merge: [
    {
      outcome: picklist(['merged', 'contained']),
      ...{ id: text, base: maybe, contradictions: array(object({ id: text, text })) },
    },
  ],
  verify: [
    {
      ...{ id: text, folder: text, changed: number },
      claims: array(
        object({
          ...{ fact: maybe, about: text, what: text, now: maybe },
          state: picklist(['holds', 'changed', 'gone', 'unknown']),
        }),
      ),
      run: optional(
        object({
          ...{ saved: maybe, left: array(object({ command: text, reason: text })) },
          checks: array(
            object({
              ...{ fact: text, command: text, outcome: picklist(['passed', 'failed', 'timed out', 'wrote too much']) },
              ...{ exit: nullable(number), line: maybe, seconds: number },
            }),
          ),
        }),
      ),
    },
  ],
  why: [
    {
      ...{ path: text, symbol: maybe, symbol_found: nullable(yes), matched: maybe, earlier_names: texts },
      sessions: array(
        object({
          ...origin,
          goal: text,
          touched: array(object({ path: text, change: text, edits: number, reads: number })),
          reasons: array(
            object({
              ...{ id: text, kind: text, text, trust: text, origin: text, said: yes, standing: text },
              ...{ because: maybe, about: picklist(['file', 'request', 'session']), handover: text, open: text },
            }),
          ),
          ...{ more: number, open: text },
        }),
      ),
      ...{ has_more: yes, commits: array(commit), ...besides },
    },
  ],
  errors: [
    {
      lines: texts,
      seen: array(
        object({
          ...origin,
          ...{ likeness: text, fact: text, text, command: maybe, because: maybe, open: text },
          state: picklist(['open', 'closed', 'unknown']),
          remedy: nullable(
            object({
              ...{ handover: text, succeeded: maybe, files: array(file), commands: texts, said: texts },
              in_later_session: yes,
            }),
          ),
        }),
      ),
      ...{ has_more: yes, ...besides },
    },
  ],
  debt: [
    {
      ...{ with_brief: side, without: side, unread: number, has_more: yes },
      weeks: array(
        object({
          week: text,
          successors: number,
          with_brief: number,
          found_again: nullable(median),
          calls: nullable(median),
        }),
      ),
      suggestions: array(object({ kind: text, text, successors: number, project: text, command: text })),
      successors: array(object(successor)),
    },
    {
      session: text,
      successors: array(
        object({
          ...successor,
          items: array(
            object({
              ...{ kind: text, text, line: number, open: text },
              before: object({ line: nullable(number), in: picklist(['same', 'previous', 'handover']) }),
            }),
          ),
        }),
      ),
    },
  ],
  files: [
    {
      ...{ path: text, project, sessions: number, created: number, edited: number, committed: number, deleted: number },
      ...{ read: number, named: number, agents: texts, first_at: text, last_at: text, last: text, handover: text },
    },
  ],
  timeline: [
    {
      days: array(
        object({
          date: text,
          sessions: array(
            object({
              ...{ handover: text, handovers: number, agent: text, session: maybe, project, started_at: maybe },
              ...{ at: text, title: text, goal: text, requests: array(loose({ id: text, text })) },
              ...{ commits: array(loose({ text })), decisions: array(loose({ id: text, kind: text, text })) },
              ...{ checks: object({ passed: texts, failed: texts }), open_errors: number, files_changed: number },
              given_at: texts,
            }),
          ),
          marks: array(object({ at: text, mark: text, fact: text, text, because: maybe })),
          commits: array(object({ ...commit.entries, project: text })),
          uncaptured: array(object(uncaptured)),
        }),
      ),
      ...{ has_more: yes, session_index: index },
    },
  ],
  report: [{ output: text, bytes: number, sessions: number, handovers: number, opened: yes }],
  diff: [
    {
      first: object({ id: text, created_at: text, agent: text, project, title: text }),
      second: object({ id: text, created_at: text, agent: text, project, title: text }),
      relation: text,
      new: array(object(fact)),
      carried: number,
      carried_facts: optional(array(object(fact))),
      changed: array(object({ before: object(fact), after: object(fact) })),
      resolved: ended,
      superseded: array(object({ ...fact, reason: text, by: nullable(object(fact)) })),
      dropped: ended,
      git: nullable(object({ branch: change, head: change, files: object({ added: texts, gone: texts }) })),
    },
    {
      handovers: array(object({ id: text, created_at: text, agent: text, project, title: text })),
      facts: array(
        object({
          ...{ ...fact, since: text },
          end: nullable(
            object({ how: picklist(['resolved', 'superseded', 'dropped', 'lost']), in: text, reason: text }),
          ),
        }),
      ),
    },
  ],
  render: [{ id: text, budget: number, left_out: texts, ...brief }],
  resume: [
    {
      ...{ id: text, budget: number, left_out: texts, ...brief, briefing: text, chars: number },
      changed: object({
        age_seconds: number,
        branch: nullable(change),
        head: nullable(object({ before: maybe, after: maybe, commits: array(commit) })),
        files: array(file),
      }),
      caught_up: array(object({ agent: text, session: text, outcome: text, id: maybe })),
    },
    { id: v.null(), target: text, budget: number, text, briefing: text, chars: number },
  ],
  restore: [{ id: text, status: text, ...brief }],
  pin: [mark],
  unpin: [mark],
  resolve: [mark],
  refute: [mark],
  redact: [{ bytes: number, redactions }],
  snapshot: [{ path: text, new: yes, kept: maybe, text: optional(text) }, { earlier: texts }],
  auto: [{ path: text, new: yes, kept: maybe, published: nullable(object(report)) }],
  run: [
    { id: text, executed: texts, skipped: texts, attempts: number, changes: texts },
    { executed: texts, resumed: yes },
    { config: maybe, memory_dir: text, tag: text, checkpoint: text, backend: text, steps: texts },
  ],
  check: [{ code: number, status: text, pending: texts, path: text }],
  status: [
    {
      ...{ status: text, started_at: maybe, finished_at: maybe, path: text, hook_failures: texts },
      run: nullable(object({ id: text, attempts: number, changes: texts })),
      steps: array(
        object({
          ...{ name: text, state: text, attempts: optional(number), started_at: optional(maybe) },
          ...{ finished_at: optional(maybe), error: optional(maybe), effect: optional(maybe) },
        }),
      ),
      paused: nullable(object({ path: text, why: maybe })),
      newest: nullable(object({ id: text, created_at: text, worked_at: text, status: text })),
      remotes: array(
        object({ name: text, url: text, last_sync: maybe, unsent: number, waiting: number, missing: number }),
      ),
      held: optional(array(held)),
    },
  ],
  pause: [{ paused: yes, path: text, why: maybe }],
  unpause: [{ paused: yes, was_set: yes, path: maybe }],
  compact: [
    {
      ...{ memory: text, dry_run: yes },
      compacted: array(
        object({
          ...{ month: text, tag: text, archive: text, notes: number, repeats: number },
          ...{ removed: texts, unreadable: texts },
        }),
      ),
    },
  ],
  push: [
    {
      ...{ backend: text, ...report, redactions, waiting: texts, notes: texts, left_out: texts },
      changes: array(object({ path: text, change: text, bytes: number })),
    },
  ],
  export: [
    {
      ...{ output: text, format: text, bytes: number, signed: yes, encrypted: yes },
      ...{ handovers: texts, redactions: number },
    },
    { dry_run: yes, format: text, signed: yes, encrypted: yes, handovers: array(handover) },
  ],
  import: [
    {
      ...{ dry_run: yes, signer: nullable(object({ name: text, key: text })) },
      handovers: array(object({ id: text, title: text, facts: number, outcome: text })),
      needs: texts,
    },
  ],
  keys: [
    { ...own, folder: text },
    { own: nullable(object(own)), trust_list: text, keys: array(object({ ...key, state: text })) },
    own,
    key,
    { revoked: array(object({ name: text, fingerprint: text })) },
  ],
  remote: [
    place,
    { remotes: array(object({ ...place, last_sync: maybe, unsent: number })) },
    { removed: text },
    { name: text, url: text, checks: array(object({ name: text, good: yes, found: text })) },
  ],
  sync: [
    {
      ...{ remote: text, url: text, sent: synced, received: synced, missing: number, notes: texts },
      waiting: array(object({ writer: text, name: text, key: text, fingerprint: text, why: text, pages: number })),
    },
    {
      ...{ remote: text, url: text, dry_run: yes, encrypted: yes },
      leaving: array(object({ kind: text, id: text, project: text, title: maybe, bytes: nullable(number) })),
    },
  ],
  to: [{ id: text, agent: text, folder: text, program: text, args: texts, prompt: text }],
  forget: [{ forgotten: texts }, { forgotten_session: text }],
  cleanup: [
    {
      ...{ dry_run: yes, retention_days: number, removed: texts, removed_sessions: texts },
      kept: object({ latest: number, pinned: number }),
    },
  ],
  help: [
    {
      ...{ name: text, summary: text, details: text, usage: texts },
      parameters: array(object({ term: text, text })),
      flags: array(object({ term: text, text })),
      examples: array(object({ line: text, purpose: text })),
    },
  ],
  init: [
    {
      done: yes,
      parts: array(object({ name: text, title: text, proposals: texts, chosen: yes })),
      notes: texts,
      next: texts,
    },
    { removed: array(blockChange) },
  ],
  hooks: [
    { scope: text, dry_run: yes, changes: array(hookChange), absent: texts, next: texts },
    { scope: text, dry_run: yes, changes: array(hookChange) },
    {
      scope: text,
      agents: array(
        object({
          ...{ agent: text, title: text, detected: yes, state: text, server: text, folder: maybe },
          ...{ program: maybe, version: maybe, next: maybe },
          files: array(
            object({
              ...{ path: text, state: maybe, server: maybe, problem: maybe, missing: texts, off: yes },
              trusted: nullable(yes),
            }),
          ),
        }),
      ),
    },
  ],
  doctor: [
    {
      ...{ root: text, handovers: number, intact: number, newer: number, journal_entries: number },
      ...{ sqlite: text, transcripts: number, hooks: texts },
      findings: array(object({ code: text, level: text, path: maybe, message: text, fixed: yes, remedy: maybe })),
    },
  ],
  debug: [
    {
      ...{ version: text, store: text, project, root: text, terminal: maybe, damaged: texts, newer: texts },
      ...{ freshness_minutes: number, retention_days: number },
      newest: nullable(
        object({
          ...{ id: text, created_at: text, worked_at: text, noted_at: maybe, status: text },
          ...{ restores: yes, reason: maybe },
        }),
      ),
      sessions: object({
        count: number,
        newest: nullable(object({ agent: text, id: text, changed_at: text })),
      }),
    },
  ],
  migrate: [
    {
      ...{ from: text, dry_run: yes },
      records: array(object({ id: maybe, outcome: text, note: maybe, position: number, file: text })),
    },
    { workspace: text, dry_run: yes, files: array(object({ path: text, outcome: text, note: maybe })) },
  ],
  error: [{ error: loose({ code: text, message: text, hint: maybe }) }],
};

/** Commands whose document is a sealed record, besides the forms above. */
const SEALED = ['show'];
/** What a dry run would save: it has no id yet. */
const unsaved = loose({ schema: v.literal('handover/1'), title: text });
/** Commands that print an array, besides other forms. */
const LISTS = ['backfill', 'list', 'sessions', 'files'];

/** @param {string} name */
function describe(name) {
  const forms = Object.hasOwn(FORMS, name) ? Reflect.get(FORMS, name) : [];
  const documents = forms.map((form) => object({ schema: v.literal(`${name}/1`), ...form }));
  const [first] = documents;
  if (name === 'capture') return union([handover, unsaved]);
  if (SEALED.includes(name)) return union([handover, ...documents]);
  if (LISTS.includes(name)) return union([array(first), ...documents.slice(1)]);
  return documents.length === 1 ? first : union(documents);
}

export const COMMAND_SCHEMAS = Object.fromEntries(
  [...Object.keys(FORMS), 'capture'].map((name) => [name, describe(name)]),
);
