import type { Context } from './context.ts';

/** What is typed is shown, and given to the next session, without its secrets. */
export async function redactWords(this: Pick<Context, 'machine'>, input: string): Promise<string> {
  const { openRedactor } = await import('../../redact/open-redactor.ts');
  const { machine } = this;
  const redactor = openRedactor(machine, { folder: machine.cwd, makesKey: false });
  return redactor.redactText(input, { byHuman: true });
}
