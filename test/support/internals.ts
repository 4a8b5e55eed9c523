// What programs in plain JavaScript (crash tests, benchmarks, scripts) need besides the public API. Built into
// dist/internals, which is not published.
export { inspectTranscript } from '../../src/agents/find-session.ts';
export { captureSession } from '../../src/app/capture/capture.ts';
export { openPostgresRemote } from '../../src/exchange/remote/postgres/remote.ts';
export { compileBrief } from '../../src/handover/brief/compile.ts';
export { findReader } from '../../src/handover/brief/reader.ts';
export { findChanges } from '../../src/handover/claims.ts';
export { type Declaration, declareHandover } from '../../src/handover/declare.ts';
export { formatHandover, sealHandover } from '../../src/handover/seal.ts';
export { Event } from '../../src/model/event.ts';
export { computeFactId, Fact } from '../../src/model/fact.ts';
export { Handover } from '../../src/model/handover.ts';
export { computeChecksum } from '../../src/model/hash.ts';
export { isHandoverId } from '../../src/model/id.ts';
export { JournalEntry } from '../../src/model/journal-entry.ts';
export { describeMachine } from '../../src/platform/machine.ts';
export { describePlace } from '../../src/platform/project.ts';
export { examineStore } from '../../src/store/doctor/doctor.ts';
export { readHandover, saveHandover } from '../../src/store/handovers.ts';
export { openCatalog } from '../../src/store/open-catalog.ts';
export { openStore, type Store } from '../../src/store/store.ts';
