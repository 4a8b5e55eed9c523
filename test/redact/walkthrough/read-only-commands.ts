import { connect } from '../../support/mcp.ts';
import type { Walk } from './walkthrough.ts';

/** All that is only looked at, asked with secrets in the question where there is one. */
export async function look(walk: Walk): Promise<void> {
  const [file] = walk.plantNames(1);
  for (const args of [
    ['list'],
    ['list', '--json', '--limit', '0'],
    ['list', '--query', 'settings'],
    ['select', '--print-id'],
    ['search', 'settings', '--limit', '50'],
    ['search', '--json', '--limit', '50', 'upload', 'error', 'token'],
    ['search', '--sessions', '--limit', '50', 'settings'],
    ['search', '--sessions', '--json', '--limit', '50', walk.plantOne()],
    ['why', 'src', '--json'],
    ['why', 'src/upload.ts'],
    ['why', `src/${file}.ts`],
    ['errors', '--all', 'error: not accepted'],
    ['errors', '--all', '--json', walk.plantOne()],
    ['files', '--all'],
    ['files', '--all', '--json', '--limit', '0'],
    ['timeline', '--all', '--limit', '0'],
    ['timeline', '--all', '--json', '--limit', '0'],
    ['debt', '--all', '--limit', '0'],
    ['debt', '--all', '--json', '--limit', '0'],
    ['report', '--all-projects', '--output', '-'],
    ['show'],
    ['show', '--json'],
    ['render'],
    ['render', '--json', '--goal', walk.plantOne()],
    ['resume', '--json'],
    ['to', 'codex', '--print', '--goal', walk.plantOne()],
    ['debug', '--json'],
    ['diff'],
    ['diff', '--json'],
    ['sessions'],
    ['sessions', '--json', '--limit', '0'],
    ['restore', '--goal', walk.plantOne()],
    ['status'],
    ['backfill', '--dry-run', '--json'],
    ['backfill', '--json'],
    ['completions', 'bash'],
    ['cleanup', '--json'],
    ['redact', '--json'],
    ['doctor'],
    ['doctor', '--fix', '--json'],
  ])
    await walk.run(args);
  await walk.run(['select', '--print-id', '--query', walk.plantOne()], { status: 66 });
  await walk.run(['show', walk.plantOne()], { status: 66 });
  await walk.run(['show', '--events', walk.plantOne()], { status: 66 });
  await walk.run(['sessions', '--agent', walk.plantOne()], { status: 64 });
  await walk.run(['sessions', walk.plantOne()], { status: 66 });
  await walk.run(['check'], { status: 2 });
  await walk.run(['verify', '--all']);
  const kept: { id: string }[] = JSON.parse(await walk.run(['list', '--project', '.', '--json', '--limit', '2']));
  await walk.run(['merge', ...kept.map(({ id }) => id), '--json']);
  await walk.run(['diff', '--chain', '--all']);
  await walk.run(['errors', '--all', '-'], { input: walk.plant(3).join('\n') });
  const sessions: { id: string }[] = JSON.parse(await walk.run(['sessions', '--json', '--limit', '0']));
  for (const { id } of sessions) await walk.run(['sessions', id]);
  await walk.run(['redact', '-'], { input: walk.planted.map(({ text }) => text).join('\n\n') });
  await walk.run(['forget', 'latest']);
}

/** Every tool, resource and prompt that the server lists. */
export async function serve(walk: Walk): Promise<void> {
  walk.commands.add('mcp');
  const { client, call } = await connect(walk.sandbox, {
    env: { TMPDIR: walk.temp },
    onStderr: (text) => void walk.outputs.push(`mcp: ${text}`),
  });
  const hear = (what: string, reply: unknown): void => void walk.outputs.push(`mcp ${what}: ${JSON.stringify(reply)}`);
  const said = (): string[] => walk.plant(3);
  const saved = await call('save', {
    decision: said(),
    constraint: said(),
    rejected: said(),
    next: said(),
    question: said(),
    blocker: said(),
    note: said(),
  });
  hear('save', saved);
  const [fact] = JSON.stringify(saved.data).match(/f-[a-z0-9]+/) ?? [];
  const calls: Readonly<Record<string, readonly object[]>> = {
    save: [{ next: [walk.plantOne()], pin: true }],
    resolve: [{ fact, as: 'refuted', because: walk.plantOne() }, { fact: walk.plantOne() }],
    get: [{ id: fact }, { id: 'latest', events: true }, { id: walk.plantOne() }],
    resume: [{}, { goal: walk.plantOne() }],
    search: [
      { query: walk.plantOne(), everywhere: true },
      { query: 'settings', sessions: true, everywhere: true, limit: 20 },
    ],
    sessions: [{ everywhere: true, limit: 50 }],
    status: [{}],
  };
  const known = new Map(Object.entries(calls));
  for (const { name } of (await client.listTools()).tools) {
    const wishes = known.get(name);
    if (wishes === undefined) throw new Error(`the tool ${name} is not called with secrets yet`);
    for (const wish of wishes) hear(name, await call(name, Object.fromEntries(Object.entries(wish))));
  }
  const { resources } = await client.listResources();
  hear('resources', resources);
  for (const { uri } of resources) hear(uri, await client.readResource({ uri }));
  for (const { name } of (await client.listPrompts()).prompts)
    hear(name, await client.getPrompt({ name, arguments: { goal: walk.plantOne() } }));
}
