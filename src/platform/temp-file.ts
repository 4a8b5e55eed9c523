import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Keeps a text in a file that nobody else can read, for as long as the work takes. */
export async function withTempFile<T>(
  name: string,
  text: string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-handover-'));
  try {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return await work(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
