import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HandoverError } from '../../src/errors.ts';
import { parseJson } from '../../src/model/json.ts';

const parse = (text: string): unknown => parseJson(text, 'the input', { maxBytes: 1000, maxDepth: 8 });

describe('parsing untrusted JSON', () => {
  it('gives what JSON.parse gives, or a coded error, for any text without the key __proto__', () => {
    const text = fc.oneof(fc.string(), fc.json({ maxDepth: 3 })).filter((json) => !json.includes('__proto__'));
    fc.assert(
      fc.property(text, (json) => {
        try {
          expect(parseJson(json, 'the input')).toEqual(JSON.parse(json));
        } catch (error) {
          expect(error).toBeInstanceOf(HandoverError);
        }
      }),
    );
  });

  it('refuses deep nesting before parsing, and ignores brackets in strings', () => {
    expect(() => parse('['.repeat(9) + ']'.repeat(9))).toThrow(/nested more than 8/);
    expect(parse(JSON.stringify(['[[[[[[[[[[[[', '\\"[[[[[[[[[']))).toHaveLength(2);
    expect(() => parseJson('['.repeat(5_000_000), 'the input')).toThrow(/nested/);
  });

  it('refuses large input', () => {
    expect(() => parse(`"${'x'.repeat(1000)}"`)).toThrow(/larger than 1000/);
  });

  it('drops keys that would change a prototype, however they are written', () => {
    const value = parse('{"__proto__":{"polluted":1},"a":{"\\u005f_proto__":{"polluted":1},"b":2}}');
    expect(value).toEqual({ a: { b: 2 } });
    expect(Object.assign({}, value)).not.toHaveProperty('polluted');
    expect({}).not.toHaveProperty('polluted');
  });
});
