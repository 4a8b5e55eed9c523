import fc from 'fast-check';

/*
 * Settings files as people have them: written by hand and by other tools, with comments, hooks of their own, any
 * indentation and line ends.
 */

interface Style {
  /** Null for all in one line. */
  indent: string | null;
  eol: string;
  mark: string;
  trailingCommas: boolean;
  comments: boolean;
  finalNewline: boolean;
  colon: string;
  seed: number;
}

export interface SettingsFile {
  text: string;
}

const anyText = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('größer', '日本語', '🙂', 'a\\b', '"quoted"', '// no comment', '/* nor this */', 'hook.cjs', ','),
);

const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, 0, -1.5, 1e21),
    anyText,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(anyText, tie('value'), { maxKeys: 3 }),
  ),
})).value;

const otherHandler = fc.record(
  {
    type: fc.constant('command'),
    command: fc.constantFrom(
      'npx prettier --write .',
      'notify-send "done"',
      '"/usr/bin/node" "/x/bin/hook.cjs" other Stop',
    ),
    timeout: fc.constantFrom(5, 60, 10_000),
    async: fc.boolean(),
  },
  { requiredKeys: ['type', 'command'] },
);

const otherGroup = fc.record(
  { matcher: fc.constantFrom('*', 'Bash|Edit', 'startup'), hooks: fc.array(otherHandler, { maxLength: 3 }) },
  { requiredKeys: ['hooks'] },
);

const EVENTS = ['SessionStart', 'Stop', 'PreCompact', 'AfterAgent', 'PreToolUse', 'sessionStart', 'Notification'];

function otherHooks(grouped: boolean): fc.Arbitrary<unknown> {
  const item: fc.Arbitrary<unknown> = grouped ? otherGroup : otherHandler;
  return fc.dictionary(fc.constantFrom(...EVENTS), fc.array(item, { maxLength: 3 }), { maxKeys: 4 });
}

const TOML_BLOCKS = [
  '[projects."/home/u/x [y]"]EOLtrust_level = "trusted"',
  '[mcp_servers.files]EOLcommand = "npx"EOLargs = ["-y", "files"]EOL',
  '[mcp_servers.files-2]EOL# [mcp_servers.handover]EOLcommand = "handover.cjs"',
  '[notice]EOLtext = """EOL[mcp_servers.other]EOLcommand = "no"EOL"""',
  '[lists]EOLx = [EOL  [1, 2],EOL  [3],EOL]',
  '[[rules]]EOLname = "a"EOL[[rules]]EOLname = "b" # last',
  '[a.b]EOLwhen = 2026-01-31T12:00:00Z',
  '["mcp_servers.handover"]EOLx = 1',
];

/** Where agents keep the MCP servers of other people. */
const SECTIONS = ['mcpServers', 'mcp'];

const otherServers = fc.dictionary(
  fc.constantFrom('files', 'handover-2', 'größer', 'a"b'),
  fc.record({
    command: fc.constantFrom('npx', '/x/bin/handover.cjs'),
    args: fc.array(anyText, { maxLength: 2 }),
  }),
  { maxKeys: 3 },
);

const anyStyle: fc.Arbitrary<Style> = fc.record({
  indent: fc.constantFrom(null, '  ', '    ', '\t', ' '),
  eol: fc.constantFrom('\n', '\r\n'),
  mark: fc.constantFrom('', '', '\uFEFF'),
  trailingCommas: fc.boolean(),
  comments: fc.boolean(),
  finalNewline: fc.boolean(),
  colon: fc.constantFrom(':', ': ', ' : '),
  seed: fc.nat(),
});

/** `grouped` as most agents list their handlers; others list them without groups. */
export function anySettings(grouped = true): fc.Arbitrary<SettingsFile> {
  return fc
    .record({
      before: fc.dictionary(anyText, anyValue, { maxKeys: 3 }),
      hooks: fc.option(otherHooks(grouped), { nil: undefined }),
      servers: fc.option(otherServers, { nil: undefined }),
      after: fc.dictionary(anyText, anyValue, { maxKeys: 3 }),
      style: anyStyle,
    })
    .map(({ before, hooks, servers, after, style }) => {
      const members = new Map([
        ...Object.entries(before),
        ...(hooks === undefined ? [] : [['hooks', hooks] as const]),
        ...(servers === undefined ? [] : SECTIONS.map((section) => [section, servers] as const)),
      ]);
      for (const [key, value] of Object.entries(after)) if (!members.has(key)) members.set(key, value);
      if (members.get('hooks') !== hooks) members.delete('hooks');
      return { text: printSettings(Object.fromEntries(members), style) };
    });
}

/** Settings in TOML, with what a look at lines alone would take for something else. */
export const anyToml: fc.Arbitrary<SettingsFile> = fc
  .record({
    blocks: fc.uniqueArray(fc.constantFrom(...TOML_BLOCKS), { maxLength: 6 }),
    eol: fc.constantFrom('\n', '\r\n'),
    end: fc.constantFrom('', 'EOL', 'EOLEOL', 'EOL# the end', 'EOL  '),
    head: fc.constantFrom('', 'model = "m" # mineEOL', '# my settingsEOLEOLmodel = "m"EOL'),
  })
  .map(({ blocks, eol, end, head }) => ({
    text: `${head}${blocks.join('EOL')}${end}`.replaceAll('EOL', eol),
  }));

const COMMENTS = ['// why not', '/* kept */', '// "hooks": {}', '/* { */', '// ünïcödé'];

function printSettings(value: unknown, style: Style): string {
  const chance = makeChance(style.seed);
  const text = printValue(value, { style, chance, depth: 0 });
  const head = style.comments && style.indent !== null && chance() < 0.3 ? `// my settings${style.eol}` : '';
  const tail = style.comments && style.indent !== null && chance() < 0.3 ? `${style.eol}// the end` : '';
  return `${style.mark}${head}${text}${tail}${style.finalNewline ? style.eol : ''}`;
}

interface Printing {
  style: Style;
  chance: () => number;
  depth: number;
}

function printValue(value: unknown, { style, chance, depth }: Printing): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = { style, chance, depth: depth + 1 };
  const [open, close, members] = Array.isArray(value)
    ? ['[', ']', value.map((item) => printValue(item, inner))]
    : [
        '{',
        '}',
        Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}${style.colon}${printValue(item, inner)}`),
      ];
  if (members.length === 0) return `${open}${close}`;
  if (style.indent === null || (depth > 1 && chance() < 0.2)) {
    if (members.every((member) => !/[\r\n]/.test(member)))
      return `${open}${members.join(chance() < 0.5 ? ', ' : ',')}${close}`;
  }
  const { eol } = style;
  const indent = (style.indent ?? '').repeat(depth + 1);
  const lines = members.map((member, at) => {
    const isLast = at === members.length - 1;
    const comma = !isLast || (style.trailingCommas && chance() < 0.7) ? ',' : '';
    const above = style.comments && chance() < 0.2 ? `${indent}${pick(chance)}${eol}` : '';
    const beside = style.comments && chance() < 0.3 ? ` ${pick(chance)}` : '';
    const below = isLast && style.comments && chance() < 0.2 ? `${eol}${indent}${pick(chance)}` : '';
    return `${above}${indent}${member}${comma}${beside}${below}`;
  });
  return `${open}${eol}${lines.join(eol)}${eol}${(style.indent ?? '').repeat(depth)}${close}`;
}

function pick(chance: () => number): string {
  return COMMENTS[Math.floor(chance() * COMMENTS.length)] ?? '';
}

function makeChance(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}
