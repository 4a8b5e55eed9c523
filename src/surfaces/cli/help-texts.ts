import type { CommandName } from './command-summaries.ts';

/** What to type, and what it is for. */
type Example = readonly [line: string, purpose: string];

/** The commands of every day, each as the answer to a question. */
export const QUESTIONS: readonly (readonly [question: string, line: string, name: CommandName])[] = [
  ['Set it up', 'handover init', 'init'],
  ['Where was I?', 'handover resume', 'resume'],
  ['Give this to Codex', 'handover to codex', 'to'],
  ['What did I do yesterday?', 'handover timeline --since 2d', 'timeline'],
  ['Why is it like this?', 'handover why FILE', 'why'],
  ['Where was that?', 'handover search WORDS', 'search'],
  ['Leave a note', 'handover save TEXT', 'save'],
  ['Take it to another machine', 'handover export --output FILE', 'export'],
  ['Does it work?', 'handover doctor', 'doctor'],
  ['Delete it all', 'handover forget --all', 'forget'],
];

/** Two or three for each command, with flags that it has: a test compares them. */
export const EXAMPLES: Readonly<Record<CommandName, readonly Example[]>> = {
  init: [
    ['handover init', 'tick what to set up in a list'],
    ['handover init --yes', 'hooks and MCP for every agent on this machine'],
    ['handover init --remove', 'undo all of it'],
  ],
  hooks: [
    ['handover hooks status', 'which agents have hooks, and whether they work'],
    ['handover hooks install --agent codex', 'for one agent only'],
  ],
  mcp: [
    ['handover mcp', 'the command in an agent’s settings'],
    ['handover mcp --agent codex', 'for an agent that does not name itself'],
  ],
  migrate: [
    ['handover migrate --dry-run', 'what was found, and what would be imported'],
    ['handover migrate --from old/handoffs.json', 'a store of session-handoff'],
  ],
  completions: [
    ['handover completions bash > ~/.local/share/bash-completion/completions/handover', 'for bash'],
    ['handover completions zsh > ~/.zsh/completions/_handover', 'for zsh, where that folder is in fpath'],
    ['handover completions fish > ~/.config/fish/completions/handover.fish', 'for fish'],
  ],
  capture: [
    ['handover capture', 'the newest session of this project'],
    ['handover capture --dry-run --budget 800', 'a short brief, and nothing is saved'],
  ],
  backfill: [
    ['handover backfill --dry-run', 'how many sessions were never captured, and how long it takes'],
    ['handover backfill --background', 'capture them all while you go on'],
  ],
  save: [
    ['handover save "Retries done" --next "Write the timeout test"', 'what the next session needs to know'],
    ['handover save --summary - < notes.md', 'a longer text, from a file'],
    ['handover save --pin "Never touch the tax table"', 'shown in every brief from now on'],
  ],
  to: [
    ['handover to codex', 'start Codex where the last session stopped'],
    ['handover to claude-code --goal "Write the timeout test"', 'with a task for it'],
    ['handover to codex --print', 'show what would be started'],
  ],
  resume: [
    ['handover resume', 'where things stand here, and what changed since'],
    ['handover resume k9f2', 'an earlier handover, by the end of its id'],
    ['handover resume ../shop --goal "Fix the login"', 'another folder, with what matters for that goal'],
  ],
  restore: [
    ['handover restore', 'the brief, once, if it is fresh'],
    ['handover restore --terminal tty_3', 'only from one terminal'],
  ],
  render: [
    ['handover render', 'the newest handover of this project as a brief'],
    ['handover render 20261115 --target codex --budget 400', 'another one, for Codex, kept short'],
  ],
  search: [
    ['handover search retry timeout', 'any words, typos included'],
    ['handover search --kind decision,rejected retries', 'only what was decided or rejected'],
    ['handover search --sessions "exact words"', 'also in the full text of sessions'],
  ],
  list: [
    ['handover list', 'the newest work first'],
    ['handover list --project . --since 7d', 'this project, the last week'],
    ['handover list --status', 'which are waiting to be restored'],
  ],
  show: [
    ['handover show', 'the newest handover of this project in full'],
    ['handover show 20261115', 'by the start of its id'],
    ['handover show latest --events', 'with the lines of the transcript it came from'],
  ],
  select: [
    ['handover select', 'type parts of a title, press Enter'],
    ['handover show $(handover select --print-id --query retries)', 'in a script: the newest match'],
  ],
  diff: [
    ['handover diff', 'the newest handover against the one before'],
    ['handover diff 20261114 20261115', 'two handovers, by the start of their ids'],
  ],
  merge: [
    ['handover merge k9f2 81xv', 'two lines of work, by the ends of their ids'],
    ['handover merge latest 81xv', 'the newest here, with another'],
  ],
  sessions: [
    ['handover sessions', 'every agent on this machine'],
    ['handover sessions --project . --since 7d', 'this project, the last week'],
    ['handover sessions 5b0c7f0e', 'everything that was said in one'],
  ],
  verify: [
    ['handover verify', 'the newest handover here: files, commits, branch, processes, versions'],
    ['handover verify k9f2 --all', 'by the end of its id, including what still holds'],
    ['handover verify --run', 'run its tests, builds and lints again, after asking'],
  ],
  why: [
    ['handover why src/checkout.ts', 'decisions, sessions and commits about a file'],
    ['handover why src/checkout.ts:retry', 'one symbol in it'],
    ['handover why "src/**/*.ts" --since 7d', 'many files, the last week'],
  ],
  errors: [
    ['handover errors', 'what is still open here, then what failed last'],
    ['handover errors "ECONNREFUSED 127.0.0.1:5432"', 'was it seen before, and what helped?'],
    ['npm test 2>&1 | handover errors -', 'a whole trace'],
  ],
  files: [
    ['handover files', 'what sessions here changed most'],
    ['handover files --since 7d --agent codex', 'one agent, the last week'],
  ],
  timeline: [
    ['handover timeline --since yesterday', 'yesterday and today'],
    ['handover timeline --all --since 7d', 'all projects'],
  ],
  debt: [
    ['handover debt', 'the last sessions here'],
    ['handover debt 5b0c7f0e', 'the evidence behind the numbers of one session'],
  ],
  report: [
    ['handover report --open', 'this project, in the browser'],
    ['handover report --all-projects --since 30d --output month.html', 'all projects, the last 30 days, as a file'],
  ],
  pin: [
    ['handover pin "No new dependencies"', 'by its words'],
    ['handover pin f-3k9', 'by the start of its id, as show prints it'],
  ],
  unpin: [
    ['handover unpin "No new dependencies"', 'by its words'],
    ['handover unpin f-3k9', 'by the start of its id'],
  ],
  resolve: [
    ['handover resolve "Write the timeout test"', 'it is done'],
    ['handover resolve f-3k9 --because "moved to the tracker"', 'and why'],
  ],
  refute: [
    ['handover refute "Retry on 500" --because "orders were placed twice"', 'briefs warn against it'],
    ['handover refute f-3k9 --because "measured: no gain"', 'by the start of its id'],
  ],
  snapshot: [
    ['handover snapshot', 'rewrite HANDOFF.md'],
    ['handover snapshot --stdout', 'show it as well'],
  ],
  auto: [
    ['handover auto ~/shop', 'the command for a crontab'],
    ['handover auto --mode night', 'with a label for the session'],
  ],
  compact: [
    ['handover compact --dry-run', 'what would be merged'],
    ['handover compact', 'merge the notes of past months'],
  ],
  push: [
    ['handover push --dry-run', 'exactly what would be sent'],
    ['handover push', 'publish, as config.toml says'],
  ],
  run: [
    ['handover run --note "Retries done; the test is left"', 'a note, then the configured steps'],
    ['handover run --resume', 'finish an interrupted run'],
  ],
  check: [
    ['handover check; echo $?', '0: no run, 1: interrupted, 2: completed'],
    ['handover check --json', 'which steps are left'],
  ],
  status: [
    ['handover status', 'the last run, and what is waiting here'],
    ['handover status --json', 'for a program'],
  ],
  pause: [
    ['handover pause --why "release week"', 'in this project'],
    ['handover pause --everywhere', 'in all projects'],
  ],
  unpause: [
    ['handover unpause', 'in this project'],
    ['handover unpause --everywhere', 'in all projects'],
  ],
  export: [
    ['handover export --output work.bundle', 'the newest handover of this project'],
    ['handover export --since 7d --sign --output week.bundle', 'the last week, signed'],
    ['handover export --dry-run', 'exactly what would leave'],
  ],
  import: [
    ['handover import work.bundle', 'verified, all or nothing'],
    ['handover import work.bundle --dry-run', 'who signed it, and what is in it'],
  ],
  offer: [
    ['handover offer latest --to ben', 'the newest handover here, for Ben alone'],
    ['handover offer k9f2 --label nightly', 'for the next free worker with that label'],
  ],
  take: [
    ['handover take k9f2 codex', 'start Codex on it; nobody else can take it meanwhile'],
    ['handover take --next --label nightly --done codex', 'the oldest open task, as a worker in a fleet'],
  ],
  release: [
    ['handover release', 'give back the task of this worktree'],
    ['handover release k9f2 --done', 'it is done'],
  ],
  who: [
    ['handover who', 'what you hold, and what is open in this project'],
    ['handover who k9f2', 'who holds it, and until when'],
  ],
  keys: [
    ['handover keys generate', 'your own keys'],
    ['handover keys trust ben.pub --name Ben', 'accept what Ben signs'],
  ],
  remote: [
    ['handover remote add team /mnt/team/handovers', 'a folder that several machines see'],
    ['handover remote test', 'whether they can be reached and written'],
  ],
  sync: [
    ['handover sync --dry-run', 'exactly what would leave'],
    ['handover sync team', 'send and receive, once'],
    ['handover sync --watch', 'keep syncing'],
  ],
  redact: [
    ['handover redact build.log', 'print it without its secrets'],
    ['handover redact --json < .env', 'only what was found'],
  ],
  doctor: [
    ['handover doctor', 'check everything'],
    ['handover doctor --fix', 'and repair what is safe to repair'],
  ],
  debug: [
    ['handover debug', 'what restore would do, and why'],
    ['handover debug --json', 'for a bug report'],
  ],
  cleanup: [
    ['handover cleanup --dry-run', 'what would be deleted'],
    ['HANDOFF_RETENTION_DAYS=30 handover cleanup', 'delete what is older than 30 days'],
  ],
  forget: [
    ['handover forget 20261115', 'one handover, by the start of its id'],
    ['handover forget --session 5b0c7f0e', 'the stored text of a session'],
    ['handover forget --all', 'everything, in every project; asks first'],
  ],
};

/** What the summary and the flags of a command leave open. */
export const DETAILS: Readonly<Partial<Record<CommandName, string>>> = {
  init: 'Finds the agents on this machine and lets you tick what to set up: hooks and the MCP server for each agent, a block in the instruction files they read, and SOUL.md, MEMORY.md and HANDOFF.md. Nothing else is touched. Without a terminal, flags choose. --remove undoes all of it, byte for byte; it keeps those of the three files that somebody has edited.',
  hooks:
    'For Claude Code, Codex, Gemini CLI, OpenCode, Qwen Code, Copilot CLI and Cline. Uninstalling puts their settings back byte for byte.',
  mcp: 'Tools: resume, search, get, save, resolve, sessions, status. It opens no port and makes no connection.',
  migrate: 'Reports each record. One that fails its checksum is refused, and a copy is quarantined.',
  completions:
    'Save it in your shell’s completions folder, as in the examples, or load it from the shell’s start-up file.',
  capture:
    'Uses no model and no network, and prints the brief. The handover continues the one before it: rules and decisions are carried over, and a session with nothing new is not saved twice.',
  backfill:
    'Covers every agent, including sessions from before the hooks were installed. If it is killed, the next call continues.',
  save: 'The first line of the text is the title. It adds to the newest session here, so resume and to show both, and a next step stays until resolve. Works outside git too.',
  to: 'First captures what happened since the newest handover. The agent starts in the folder where the work was done, with the brief as its first prompt.',
  resume:
    'First captures sessions of this worktree that no hook captured, of any agent: killed, crashed, or from before the hooks. The brief, what changed since (age, commits, files), SOUL.md, MEMORY.md and the notes share one budget.',
  verify:
    'Reads files, git, lock files and the process list, and writes nothing. Exit status 0: nothing changed, 1: something did. --run shows the session’s checks, asks, runs them and saves the results; those listed under run in the [verify] section of your own config.toml run without asking.',
  restore:
    'Works while the handover is pending and no older than HANDOFF_FRESHNESS_MINUTES (20), and marks it as consumed.',
  list: 'Lists all projects. --status shows which are still waiting to be restored.',
  show: 'Give the start of an id or its last four characters; latest, or no id, is the newest of this project.',
  diff: 'Each fact is new, carried, changed, resolved, superseded or dropped, with the reason.',
  merge:
    'Facts in both appear once, and what either resolved is resolved. Conflicting decisions are pinned until you resolve them. After a branch with a worktree of its own is merged, resume and to do this by themselves.',
  sessions:
    'Reads Claude Code, Codex, Gemini CLI, OpenCode, Qwen Code, Copilot CLI, Cline, Goose, Pi and Aider, in all projects.',
  why: 'Decisions, rules, rejected ideas and your own words; quotes of the agent’s closing words and of commit messages; the sessions that touched the file and the commits that changed it, under earlier names too.',
  errors:
    'Without TEXT, lists the errors of this project that are open, then the latest ones. With it, the sessions in which a command failed with it, whether it is still open, and what was done before the command succeeded. Paths, numbers and hashes may differ.',
  timeline:
    'Sessions with their requests, commits, decisions and checks; marks; commits that no session made. Newest first.',
  debt: 'Counts files, commands, errors and questions that a session repeated after another session or a compaction although nothing had changed, and how long it took to the first edit. From transcripts, without a model.',
  report:
    'One file that loads nothing from the network: sessions by agent and day, the line of work with its branches, decisions and rejected ideas, checks, files, and open work, with a filter and a search. Only you can read the file. An earlier report is replaced; any other file only with --force.',
  pin: 'Name the fact by its id, the start of its id, or its words.',
  refute: 'A refuted fact stays as a warning: tried, did not work, because.',
  snapshot: 'The previous HANDOFF.md is saved in the store.',
  auto: 'Also publishes, if your settings say so. Does nothing while paused.',
  compact: 'No note is lost.',
  push: 'To git, an S3-compatible store, a MemoryVault or a folder, without secrets. Reports success only when everything has arrived; the next push continues a failed one.',
  run: 'Steps: collect, note, current_state, snapshot, compact, export, publish, command. Each is checkpointed, so a killed run can continue.',
  status: 'Also shows what is waiting to be restored here, and what failed in hooks.',
  export: 'Writes a bundle, optionally signed and encrypted, or another format. Secrets are redacted once more.',
  import:
    'All or nothing, and only if you trust the signer; also reads bundles of session-handoff. Imported handovers are listed and searched, but never restored automatically.',
  offer:
    'Needs a shared remote; the handover is synced first. A task that is held or done cannot be offered again, except by its holder, who may pass it on.',
  take: 'A task has one holder at a time: everybody else is refused until it is released or its lease ends. The lease is renewed while the agent runs, and the task is released when the agent exits. If the lease ran out in between, you are told, and what you saved since is marked as late.',
  release:
    'Without an id: the task that this agent was started with, or else that of this worktree. After the lease has run out it changes nothing, and says who holds the task.',
  keys: 'Actions: generate, list, trust, revoke, export.',
  remote:
    'Actions: add, list, remove, test. Passwords are never stored: libpq, AWS and git provide them. With --encrypt-to, only your own key and the given ones can read what is stored there.',
  sync: 'Sends what you saved, marked and forgot since the last sync, signed and without secrets, and receives what others sent, if you trust their keys. An interrupted sync is continued by the next one. The first sync shows what would leave, and asks.',
  doctor:
    'Checks every handover, the journal, the indexes, the text of sessions, permissions and leftovers; whether each agent’s newest transcripts can still be read; whether the installed hooks are still there and can run; whether automation is paused.',
  cleanup:
    'Names everything it deletes. Keeps the latest handover of each worktree, and any that holds the only copy of a pinned fact. Nothing is deleted unless you run this command.',
  forget: 'Also from every index. The agents’ own files stay.',
};
