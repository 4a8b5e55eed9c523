import { listAdversaries } from '../fixtures/secrets/adversaries.ts';
import { makeRedactor } from '../support/redactor.ts';

const LENGTH = 1024 * 1024;
const ROUNDS = 3;

/** The processor time that a redactor takes for a text, in milliseconds. */
function measure(text: string): number {
  const before = process.cpuUsage();
  makeRedactor().redactText(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const measured = listAdversaries().map(({ kind, name, write }) => {
  const text = write(LENGTH);
  const [min = 0, median = 0] = Array.from({ length: ROUNDS }, () => measure(text)).sort((a, b) => a - b);
  return { name: `${kind}: ${name}`, min, median };
});
const slowest = measured.reduce((a, b) => (b.min > a.min ? b : a));
console.log(JSON.stringify({ ...slowest, count: measured.length, rounds: ROUNDS }));
