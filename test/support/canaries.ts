import { readFileSync } from 'node:fs';
import type { Transcript } from '../fixtures/agents/claude-code.ts';
import type { LabelledSecret } from '../fixtures/secrets/write-secrets.ts';
import { runGit } from './cli.ts';
import { listFiles } from './tree.ts';

/** Finds planted secrets by the middle of each of their lines that is long enough to be known by it. */
export class Watch {
  readonly #traces: { trace: string; told: string }[];

  constructor(canaries: readonly LabelledSecret[]) {
    this.#traces = canaries.flatMap(({ secret, kind, form, text }) =>
      secret
        .split('\n')
        .filter((line) => !line.startsWith('-----') && line.length >= 8)
        .map((line) => ({
          trace: line.slice(Math.floor(line.length / 4), Math.ceil(line.length * 0.9)),
          told: `${kind}, ${form}: ${text}`,
        })),
    );
  }

  find(content: string): string[] {
    return this.#traces.filter(({ trace }) => content.includes(trace)).map(({ told }) => told);
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

  /** In everything that a repository keeps, packed or not. */
  findInRepository(folder: string): string[] {
    const objects = runGit(
      folder,
      'cat-file',
      '--batch-all-objects',
      '--batch-check=%(objectname) %(objecttype)',
    );
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
export function tellCanaries(t: Transcript, canaries: readonly LabelledSecret[]): void {
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
