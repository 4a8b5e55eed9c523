import { describe, expect, it } from 'vitest';
import { FINAL_STATUSES, moveStatus, readStatus, readStatuses } from '../../src/store/status.ts';
import { makeStore, saveOne } from '../support/temp-store.ts';

describe('the status of a handover', () => {
  it.each(FINAL_STATUSES)('goes from pending to %s, and no further', (to) => {
    const store = makeStore();
    const { id } = saveOne(store, 'work');
    const other = saveOne(store, 'other').id;
    expect(readStatus(store, id)).toEqual({ status: 'pending', at: null, session: null, reason: null });
    moveStatus(store, id, { to, session: 's-1', reason: 'because' });
    const reached = readStatus(store, id);
    expect(reached).toMatchObject({ status: to, session: 's-1', reason: 'because' });
    for (const next of FINAL_STATUSES)
      expect(() => moveStatus(store, id, { to: next })).toThrow(`has been ${to} since ${reached.at}`);
    expect(readStatus(store, id)).toEqual(reached);
    expect(readStatus(store, other).status).toBe('pending');
    expect([...readStatuses(store).keys()]).toEqual([id]);
  });

  it('is decided by the first entry: of two concurrent changes, one is refused', () => {
    const store = makeStore();
    const { id } = saveOne(store, 'work');
    const { random } = store.machine;
    let rival = true;
    const slow = {
      ...store,
      machine: {
        ...store.machine,
        random: {
          bytes: (count: number) => {
            // The other one comes between the look at the status and the entry.
            if (rival) {
              rival = false;
              moveStatus(store, id, { to: 'consumed', session: 'first' });
            }
            return random.bytes(count);
          },
        },
      },
    };
    expect(() => moveStatus(slow, id, { to: 'consumed', session: 'second' })).toThrow('cannot become consumed');
    expect(readStatus(store, id)).toMatchObject({ status: 'consumed', session: 'first' });
  });
});
