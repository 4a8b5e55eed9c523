import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findStems, splitSegments } from '../../src/distill/shell.ts';

const textsOf = (command: string): string[] => splitSegments(command).map((segment) => segment.text);
const usesOf = (command: string): string[] => splitSegments(command).map((segment) => segment.use);

describe('the program and use of a command line', () => {
  it.each([
    ['npm test', ['npm test']],
    ['cd app && npm test', ['npm test']],
    ['npm ci && npm test || true; npm run lint', ['npm ci', 'npm test', 'npm run']],
    ['CI=1 NODE_OPTIONS="--max-old-space-size=4096 --no-warnings" npm test', ['npm test']],
    ['./gradlew :core:test --info', ['gradlew :core:test']],
    ['go vet ./... && go test ./... -run TestX', ['go vet', 'go test']],
    ['npx --yes tsc --noEmit', ['tsc']],
    ['timeout -k 5 60 cargo test', ['cargo test']],
    ['sudo -u postgres psql -c "select 1"', ['psql']],
    ['uv run pytest tests/', ['pytest']],
    ['uv add ruff && poetry add pytest', ['uv add', 'poetry add']],
    ['uv pip install ruff', ['pip install']],
    ['find . -name "*.ts" | xargs -n 1 npx eslint', ['eslint']],
    ['git -C ../api push', ['git push']],
  ])('are found: %s', (command, stems) => {
    expect(findStems(command)).toEqual(stems);
  });

  it.each([
    'ls -la && cat package.json | head -5',
    'git status && git diff --stat',
    'echo "npm test"',
    '. .venv/bin/activate',
    'a=1; b=2',
    '# npm test',
    '',
  ])('are empty where nothing was done: %j', (command) => {
    expect(findStems(command)).toEqual([]);
  });

  it('distinguish uses of a program beyond the first argument', () => {
    expect(usesOf('npm run lint && npm run build')).toEqual(['npm run lint', 'npm run build']);
    expect(usesOf('bundle exec rspec spec/a_spec.rb; bundle exec rubocop')).toEqual([
      'bundle exec rspec',
      'bundle exec rubocop',
    ]);
    expect(usesOf('pnpm --filter @acme/crypto test; npm --prefix apps/web run build; pnpm -F "./apps/*" lint')).toEqual(
      ['pnpm @acme/crypto test', 'npm apps/web build', 'pnpm "./apps/*" lint'],
    );
    expect(usesOf('pnpm --filter web test; pnpm --filter web build; pnpm --filter api test')).toEqual([
      'pnpm web test',
      'pnpm web build',
      'pnpm api test',
    ]);
    expect(usesOf('docker compose -f dev.yml up -d')).toEqual(['docker compose up']);
    expect(usesOf('yarn workspace web test; yarn workspace web lint')).toEqual([
      'yarn workspace web test',
      'yarn workspace web lint',
    ]);
  });
});

describe('operators in quotes', () => {
  it.each([
    'git commit -m "a && b; c | d > e"',
    "git commit -m 'fix: x > y & z'",
    'npm test -- -t "adds (twice); then stops"',
    'psql -c "select \\"a;b\\" from t"',
    'git tag -m "$(date; echo "a; b")" v1',
  ])('split nothing: %s', (command) => {
    expect(textsOf(command)).toEqual([command]);
  });

  it('name a pipe by its first command, or the first that does more than read', () => {
    expect(textsOf('npm test 2>&1 | grep -v ok | python3 -m json.tool')).toEqual(['npm test']);
    expect(textsOf('cat dump.sql | psql shop | tee out.log; make')).toEqual(['psql shop', 'make']);
    expect(textsOf('cat package.json | jq .scripts')).toEqual([]);
    expect(textsOf('npm test || npm run fix')).toEqual(['npm test', 'npm run fix']);
  });

  it('do not hide what comes after the quotes', () => {
    expect(textsOf("awk '{print $1; print $2}' x | npm run report && make")).toEqual(['npm run report', 'make']);
  });
});

describe('a command for display', () => {
  it('has its environment variables separate', () => {
    expect(splitSegments('DB_HOST=localhost MODE="a b" npm run dev')).toMatchObject([
      { text: 'npm run dev', environment: ['DB_HOST', 'MODE'], stem: 'npm run', use: 'npm run dev' },
    ]);
  });

  it.each([
    ['npm test', false],
    ['cd app && npm test && npm run lint', false],
    ['set -e; npm test; ls', false],
    ['set -o pipefail; npm test | tail', false],
    ["bash -c 'npm test'", false],
    ['(cd app && npm test)', false],
    ['npm test && npm run lint | tail', false],
    ['npm test | tail', true],
    ["bash -c 'npm test' | tail", true],
    ['npm test || true', true],
    ['npm test && ls || true', true],
    ['npm test; ls', true],
    ['npm test &', true],
    ['if npm test; then ls; fi', true],
    ['! npm test', true],
    ['for a in b c; do npm test; done', true],
  ])('knows whether the line hides its exit status: %s', (command, isHidden) => {
    expect(splitSegments(command).find(({ use }) => use === 'npm test')?.isHidden).toBe(isHidden);
  });

  it.each([
    ['npm test 2>&1 | tail -20', 'npm test'],
    ['npm test > out.log 2>&1 &', 'npm test'],
    ['npm test &> out.log', 'npm test'],
    ['npm test >>out.log 2>/dev/null', 'npm test'],
    ['npm test>out.log', 'npm test'],
    ['npm test # only the fast ones', 'npm test'],
    ['psql shop < dump.sql', 'psql shop < dump.sql'],
    ['diff <(npm ls) <(cat before)', 'diff <(npm ls) <(cat before)'],
  ])('has no redirections: %s', (command, text) => {
    expect(textsOf(command)).toEqual([text]);
  });

  it('is one line, however it was typed', () => {
    expect(textsOf('cargo test \\\n  --all \\\n  -- --nocapture')).toEqual(['cargo test --all -- --nocapture']);
    expect(textsOf('git commit -m "Add retry\n\nBecause the server is busy"')).toEqual(['git commit -m "Add retry…"']);
    expect(textsOf('npm test `\r\n  --watch')).toEqual(['npm test --watch']);
  });
});

describe('here-documents', () => {
  it('are not commands', () => {
    expect(textsOf('cat <<EOF > x.txt\nnpm test\nEOF\ncargo build')).toEqual(['cargo build']);
    expect(textsOf("python3 - <<'PY'\nimport os; os.remove('x')\nPY")).toEqual([]);
    expect(textsOf('psql shop <<SQL\nselect 1;\nSQL')).toEqual(['psql shop <<SQL']);
    expect(textsOf("cat <<-EOF\n\tit's here\n\tEOF\nmake")).toEqual(['make']);
  });

  it('keep the rest of the line that opens them', () => {
    expect(textsOf('cat <<EOF | kubectl apply -f -\nkind: Pod\nEOF')).toEqual(['kubectl apply -f -']);
  });

  it('are shown by their first line where they are a message', () => {
    const command = 'git commit -m "$(cat <<\'EOF\'\nfix: don\'t retry\n\n- "never" && always\nEOF\n)" && git push';
    expect(textsOf(command)).toEqual([`git commit -m "fix: don't retry…"`, 'git push']);
  });

  it('need an end: a here-string or a shift takes nothing away', () => {
    expect(textsOf('bc <<< "1 + 2"\nmake')).toEqual(['bc <<< "1 + 2"', 'make']);
    expect(textsOf('node -p "1 << x"\nmake')).toEqual(['node -p "1 << x"', 'make']);
  });
});

describe('commands inside other commands', () => {
  it.each([
    ['(cd app && npm run build)', ['npm run build']],
    ['{ npm test; npm run lint; }', ['npm test', 'npm run lint']],
    ['for f in *.ts; do npx eslint "$f"; done', ['npx eslint "$f"']],
    ['while true; do curl localhost; done', ['curl localhost']],
    ['if [ -f a ]; then npm ci; else npm install; fi', ['npm ci', 'npm install']],
    ['if ! npm test; then npm run fix; fi', ['npm test', 'npm run fix']],
    ['case $x in a) npm test;; esac', ['npm test']],
    ['check() { npm test; }; check', ['npm test', 'check']],
    ['OUT=$(npm test 2>&1); echo "$OUT"', ['npm test']],
    ['bash -lc "cd app && npm test"', ['npm test']],
    ['make test & make lint & wait', ['make test', 'make lint']],
    ['npm run dev & sleep 3; curl localhost', ['npm run dev', 'curl localhost']],
  ])('are found: %s', (command, texts) => {
    expect(textsOf(command)).toEqual(texts);
  });

  it('are not looked for where they run on another machine', () => {
    expect(textsOf('ssh web "cd shop && make restart"')).toEqual(['ssh web "cd shop && make restart"']);
  });
});

describe('command lines of other shells', () => {
  it('are parsed for PowerShell', () => {
    expect(splitSegments("$env:NODE_ENV = 'test'; npm test")).toMatchObject([
      { text: 'npm test', environment: ['NODE_ENV'] },
    ]);
    expect(usesOf('& "C:\\Program Files\\dotnet\\dotnet.exe" test')).toEqual(['dotnet test']);
    expect(usesOf('if ($LASTEXITCODE -ne 0) { exit 1 }; dotnet build')).toEqual(['dotnet build']);
    expect(textsOf('Get-ChildItem src | Select-String todo; Invoke-Pester -Output Detailed')).toEqual([
      'Invoke-Pester -Output Detailed',
    ]);
    expect(textsOf('pwsh -Command "npm test"')).toEqual(['npm test']);
  });

  it('are parsed for fish', () => {
    expect(splitSegments('set -gx RUST_LOG debug; and cargo test')).toMatchObject([
      { text: 'cargo test', environment: ['RUST_LOG'], use: 'cargo test' },
    ]);
    expect(textsOf('not npm test; or npm run fix')).toEqual(['npm test', 'npm run fix']);
  });

  it('are parsed for cmd.exe', () => {
    expect(textsOf('.\\gradlew.bat test')).toEqual(['.\\gradlew.bat test']);
    expect(splitSegments('set CI=1 && npm test')).toMatchObject([{ text: 'npm test', environment: ['CI'] }]);
    expect(textsOf('cmd /c npm test ^\n --silent')).toEqual(['npm test --silent']);
  });

  it('do not take a trace flag for a variable', () => {
    expect(splitSegments('set -ex\nnpm ci')).toMatchObject([{ text: 'npm ci', environment: [] }]);
  });
});

describe('parsing any text as a command line', () => {
  const hostile = fc.string({
    unit: fc.constantFrom(
      'a',
      ' ',
      '\n',
      '"',
      "'",
      '`',
      '\\',
      '(',
      ')',
      '$',
      '{',
      '<<',
      'EOF',
      '>',
      '&',
      '|',
      ';',
      '#',
      '=',
    ),
    maxLength: 200,
  });

  it('gives commands of its own characters, on one line each', () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), (command) => {
        for (const { text, stem, use } of splitSegments(command)) {
          expect(text).not.toContain('\n');
          expect(use.startsWith(stem)).toBe(true);
          const typed = new Set(` …${command}`);
          expect([...text].every((char) => typed.has(char))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
