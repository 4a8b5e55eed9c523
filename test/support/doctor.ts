import { join } from 'node:path';
import { makeSandbox, type Sandbox } from './cli.ts';
import { saveSample } from './samples.ts';
import { listFiles } from './tree.ts';

export interface Report {
  findings: {
    code: string;
    level: string;
    path: string;
    message: string;
    fixed: boolean;
    remedy: string | null;
  }[];
}

/** A store of three handovers, with the path of one and of the journal. */
export async function makeStore(): Promise<{ sandbox: Sandbox; path: string; journal: string }> {
  const sandbox = makeSandbox();
  for (const title of ['one', 'two', 'three']) saveSample(sandbox.machine, { title });
  await sandbox.ok(['list']);
  const [path = ''] = listFiles(join(sandbox.store, 'handovers'));
  const [journal = ''] = listFiles(join(sandbox.store, 'journal'));
  return { sandbox, path, journal };
}

export async function examine(
  sandbox: Sandbox,
  ...args: string[]
): Promise<{ status: number | null; codes: string[]; report: Report }> {
  const { status, stdout } = await sandbox.run(['doctor', ...args, '--json']);
  const report: Report = JSON.parse(stdout);
  return { status, codes: report.findings.map((finding) => finding.code), report };
}
