import { confirm } from '@clack/prompts';

/** Whether a person agrees; giving up is no. Asked on standard error, so that results alone are on standard output. */
export async function askToGoOn(question: string): Promise<boolean> {
  return (await confirm({ message: question, output: process.stderr })) === true;
}
