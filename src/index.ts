export { inspectTranscript } from './agents/find-session.ts';
export { type Capture, captureSession } from './app/capture/capture.ts';
export { type ErrorCode, EXIT, type ExitStatus, HandoverError } from './errors.ts';
export { type Import, type ImportOptions, importBundle } from './exchange/bundle/import-bundle.ts';
export { generateKeys, type OwnKeys } from './exchange/bundle/own-keys.ts';
export { type PackOptions, packBundle } from './exchange/bundle/pack.ts';
export { prepareExport } from './exchange/bundle/prepare-export.ts';
export { trustKey } from './exchange/bundle/trust-list.ts';
export {
  GitBackend,
  type GitBackendOptions,
  isPublishingConfigured,
  type PublishReport,
  type PublishRequest,
  publishProject,
} from './exchange/publish/publish-project.ts';
export { type Brief, compileBrief, countTokens, DEFAULT_BUDGET } from './handover/brief/compile.ts';
export { findReader, READER_NAMES, type Reader } from './handover/brief/reader.ts';
export { type Declaration, declareHandover } from './handover/declare.ts';
export { diffHandovers, type HandoverDiff } from './handover/diff.ts';
export { addsNothing, linkHandover, type Predecessors } from './handover/link.ts';
export { rateQuality } from './handover/quality.ts';
export { formatHandover, openHandover, sealHandover, sealRated } from './handover/seal.ts';
export type { Compaction, CompactOptions } from './memory/compact.ts';
export { MemoryStore, type WriteOptions } from './memory/memory-store.ts';
export { Checkpoint } from './memory/runs/checkpoint.ts';
export type { RunState, StepRecord } from './memory/runs/checkpoint-file.ts';
export { type EngineOptions, HandoverEngine, type Step, type StepContext } from './memory/runs/engine.ts';
export { Event } from './model/event.ts';
export { computeFactId, Fact, type FactKind } from './model/fact.ts';
export { Handover, HandoverDraft, type UnstampedDraft } from './model/handover.ts';
export { canonicalize, computeChecksum } from './model/hash.ts';
export { isHandoverId } from './model/id.ts';
export { JournalEntry } from './model/journal-entry.ts';
export { describeMachine, type Machine } from './platform/machine.ts';
export { findPause, type Pause } from './platform/pause.ts';
export { describePlace, type Place } from './platform/project.ts';
export type { Catalog, CatalogRow, Filter } from './store/catalog.ts';
export type { Finding } from './store/doctor/check-files.ts';
export { examineStore, fixFindings } from './store/doctor/doctor.ts';
export { findPrevious } from './store/find-handover.ts';
export { forgetHandover, readHandover, saveHandover } from './store/handovers.ts';
export { openCatalog } from './store/open-catalog.ts';
export { openStore, type Store } from './store/store.ts';
