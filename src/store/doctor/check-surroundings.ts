import { type Machine, readRuntimeVersion } from '../../platform/machine.ts';
import type { SqlDriver } from '../../platform/sqlite.ts';
import type { Finding } from './finding.ts';

/** Node before 22 reads the whole certificate store at every start when this variable is set: 45 ms and more. */
const FIRST_NODE_WITH_LAZY_CERTIFICATES = 22;

export function checkSurroundings(machine: Machine, driver: SqlDriver | null): Finding[] {
  const findings: Finding[] = [];
  const note = (code: string, message: string): void => {
    findings.push({ code, level: 'notice', path: null, message, remedy: null });
  };
  if (machine.env.NODE_EXTRA_CA_CERTS && readRuntimeVersion() < FIRST_NODE_WITH_LAZY_CERTIFICATES) {
    note(
      'slow-start',
      'NODE_EXTRA_CA_CERTS is set, which makes every start of this Node about 50 ms slower; Node 22 and later do not mind',
    );
  }
  if (driver === null && machine.env.HANDOVER_SQLITE !== 'none') {
    note(
      'no-index',
      'this Node has no SQLite, so lists are read from the files; npm install @photostructure/sqlite, or Node 22, gives an index',
    );
  }
  return findings;
}
