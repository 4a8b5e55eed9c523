import { describe, expect, it } from 'vitest';
import { isShapedLike } from '../../src/model/shape.ts';

const EXAMPLE = {
  count: 0,
  name: null,
  list: [],
  map: new Map(),
  set: new Set(),
  inner: { numbers: new Uint32Array() },
};

describe('a value that is built like an example', () => {
  it('has the same containers, whatever is in them', () => {
    const value = { ...EXAMPLE, count: 3, name: 'x', list: [1], map: new Map([[1, 2]]), more: true };
    expect(isShapedLike(value, EXAMPLE)).toBe(true);
    expect(isShapedLike({ ...value, name: { any: 'thing' } }, EXAMPLE)).toBe(true);
  });

  it.each([
    ['nothing', null],
    ['a text', 'text'],
    ['an empty object', {}],
    ['a list', []],
    ['a missing field', { ...EXAMPLE, map: undefined }],
    ['another container', { ...EXAMPLE, map: new Set() }],
    ['an object in place of a list', { ...EXAMPLE, list: {} }],
    ['a text in place of a number', { ...EXAMPLE, count: '3' }],
    ['another container further inside', { ...EXAMPLE, inner: { numbers: [] } }],
  ])('is not %s', (_, value) => {
    expect(isShapedLike(value, EXAMPLE)).toBe(false);
  });
});
