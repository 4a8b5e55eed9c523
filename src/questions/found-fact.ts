import type { Fact } from '../model/fact.ts';

/** A fact and the handover that tells it, without what only the file of the handover tells. */
export interface FoundFact {
  fact: Pick<Fact, 'id' | 'kind' | 'text' | 'trust' | 'origin'> & {
    status: string | null;
    line: number | null;
    from: string | null;
    ref: string | null;
  };
  handover: {
    id: string;
    at: string;
    agent: string;
    session: string | null;
    project: { id: string; name: string };
    root: string;
    folder: string;
  };
}
