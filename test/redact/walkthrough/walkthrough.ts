import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLeft, keepOutput } from '../../../eval/redaction/recall.ts';
import { type LabelledSecret, writeSecrets } from '../../fixtures/secrets/write-secrets.ts';
import { Watch } from '../../support/canaries.ts';
import { makeSandbox, type RunResult, type Sandbox } from '../../support/cli.ts';
import { type GitSandbox, makeGitSandbox } from '../../support/publishing.ts';

const COUNT = 1100;

interface WalkOptions {
  input?: string;
  env?: Readonly<Record<string, string>>;
  /** Whose command it is; the sender's by default. */
  at?: Sandbox;
  /** How it is to end, if not well. */
  status?: number;
}

/** A walk through the commands with secrets planted on the way, and all that they printed and sent. */
export class Walk {
  readonly sandbox: GitSandbox = makeGitSandbox('[publish.git]\nref = "refs/heads/memory"\nremote = "origin"\n');
  /** A user to whom bundles are sent. */
  readonly receiver: Sandbox = makeSandbox();
  /** For temporary files of all commands, and for what is exported. */
  readonly temp: string = join(this.sandbox.folder, 'temp');
  readonly planted: LabelledSecret[] = [];
  readonly outputs: string[] = [];
  /** What was found in the store before the end of the walk. */
  readonly early: string[] = [];
  readonly commands: Set<string> = new Set();
  readonly agents: Set<string> = new Set();
  readonly watch: Watch;
  /** To have the same secrets again. */
  readonly seed: number = randomInt(2 ** 31);
  /** Few are by chance no secrets that can be recognised: how many, is the business of other tests. */
  readonly #secrets: LabelledSecret[] = writeSecrets(COUNT, this.seed).filter(
    (secret) => !isLeft(secret, keepOutput(secret.text)),
  );

  constructor() {
    process.stdout.write(`secrets are filled with seed ${this.seed}\n`);
    this.watch = new Watch(this.#secrets);
    mkdirSync(this.temp);
  }

  /** The next ones, to be planted as they stand in their texts. */
  take(count: number): LabelledSecret[] {
    const taken = this.#secrets.splice(0, count);
    if (taken.length < count) throw new Error('there are no secrets left');
    this.planted.push(...taken);
    return taken;
  }

  plant(count: number): string[] {
    return this.take(count).map(({ text }) => text);
  }

  plantOne(): string {
    return this.plant(1).join();
  }

  /** Secrets without anything around them, that can be a name of a file or a branch and are known by their shape. */
  plantNames(count: number): string[] {
    const names = this.#secrets
      .filter(({ secret, form }) => !/^(?:named|its own)/.test(form) && /^[A-Za-z]\w{15,90}$/.test(secret))
      .slice(0, count);
    for (const name of names) this.#secrets.splice(this.#secrets.indexOf(name), 1);
    this.planted.push(...names);
    return names.map(({ secret }) => secret);
  }

  async run(
    args: readonly string[],
    { at = this.sandbox, env, status = 0, ...rest }: WalkOptions = {},
  ): Promise<string> {
    this.commands.add(args[0] ?? '');
    const result = await at.run(args, { timeoutMs: 60_000, ...rest, env: { TMPDIR: this.temp, ...env } });
    if (result.status !== status)
      throw new Error(`handover ${args.join(' ')}: status ${result.status}\n${result.stderr}`);
    return this.hear(args[0] ?? '', result);
  }

  /** Notes what something printed, and gives its standard output. */
  hear(what: string, { stdout, stderr }: Pick<RunResult, 'stdout' | 'stderr'>): string {
    this.outputs.push(`${what}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Looks at the store as it is now: later it may hold less. */
  lookNow(when: string): void {
    this.early.push(...this.watch.findInFiles(this.sandbox.store).map((told) => `${when}: ${told}`));
  }
}
