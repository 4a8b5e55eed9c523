import { readFileSync } from 'node:fs';
import type { Transcript } from '../fixtures/agents/claude-code.ts';
import type { LabelledSecret } from '../fixtures/secrets/write-secrets.ts';
import { runGit } from './cli.ts';
import { listFiles } from './tree.ts';

/** What is looked for of a secret, and how it is reported when it is found. */
interface Trace {
  text: string;
  told: string;
}

/** Traces are distinguished by their first four characters, which are looked for all at once. */
const HEAD = 4;
const SIEVE_BITS = 20;

function hashHead(text: string, at: number): number {
  let head = 0;
  for (let i = at; i < at + HEAD; i++) head = (head << 8) ^ text.charCodeAt(i);
  return Math.imul(head, 0x9e3779b1) >>> (32 - SIEVE_BITS);
}

/** Finds planted secrets by the middle of each of their lines that is long enough to be known by it, in any case. */
export class Watch {
  readonly #byHead: Map<number, Trace[]> = new Map();
  readonly #sieve: Uint8Array = new Uint8Array(1 << SIEVE_BITS);

  constructor(canaries: readonly LabelledSecret[]) {
    for (const { secret, kind, form, text } of canaries)
      for (const line of secret.split('\n'))
        if (!line.startsWith('-----') && line.length >= 8)
          this.#add({
            text: line.slice(Math.floor(line.length / 4), Math.ceil(line.length * 0.9)).toLowerCase(),
            told: `${kind}, ${form}: ${text}`,
          });
  }

  #add(trace: Trace): void {
    const head = hashHead(trace.text, 0);
    this.#sieve[head] = 1;
    this.#byHead.set(head, [...(this.#byHead.get(head) ?? []), trace]);
  }

  find(text: string): string[] {
    const content = text.toLowerCase();
    const found = new Set<string>();
    for (let at = 0; at <= content.length - HEAD; at++) {
      const head = hashHead(content, at);
      if (this.#sieve[head] === 0) continue;
      for (const trace of this.#byHead.get(head) ?? []) if (content.startsWith(trace.text, at)) found.add(trace.told);
    }
    return [...found];
  }

  findInFiles(folder: string): string[] {
    return listFiles(folder).flatMap((file) => this.findInFile(file));
  }

  /** In a file as it is, also where two bytes make a character. */
  findInFile(file: string): string[] {
    const text = readFileSync(file).toString('latin1');
    const forms = text.includes('\0') ? [text, text.replaceAll('\0', '')] : [text];
    return forms.flatMap((form) => this.find(`${file}\n${form}`)).map((told) => `${file}: ${told}`);
  }

  /** In all objects of a repository, packed or not. */
  findInRepository(folder: string): string[] {
    const objects = runGit(folder, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)');
    return objects
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [name = '', type = ''] = line.split(' ');
        return this.find(runGit(folder, 'cat-file', type, name)).map((told) => `${type} ${name}: ${told}`);
      });
  }
}

/** Has an agent and its user say, run, write and read them in turn. */
export function plantCanaries(t: Transcript, canaries: readonly LabelledSecret[]): void {
  t.human(`Begin: ${canaries[0]?.text}`);
  for (const [index, { text }] of canaries.entries()) {
    const id = `call-${index}`;
    if (index % 5 === 0) t.human(`Look at this, it has to work now:\n${text}`);
    else if (index % 5 === 1) t.say(`I found this in the settings, and it must be used:\n\n${text}`);
    else if (index % 5 === 2) {
      t.call(id, 'Bash', { command: `cat <<'E'\n${text}\nE` });
      t.result(id, `error: not accepted\n${text}`, { isError: true });
    } else if (index % 5 === 3) {
      t.call(id, 'Write', { file_path: `/home/ann/shop/file-${index}.txt`, content: text });
      t.result(id, 'written');
    } else {
      t.call(id, 'Bash', { command: 'cat settings' });
      t.result(id, text);
    }
  }
}
