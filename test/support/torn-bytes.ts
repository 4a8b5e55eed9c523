import fc from 'fast-check';

/** Bytes with something wrong with them: cut off anywhere, or with other bytes spliced in anywhere. */
export function tornBytes(whole: Uint8Array): fc.Arbitrary<Buffer> {
  const place = fc.nat({ max: whole.length });
  const cut = place.map((end) => Buffer.from(whole.subarray(0, end)));
  const spliced = fc
    .tuple(place, fc.nat({ max: 200 }), fc.uint8Array({ maxLength: 200 }))
    .map(([at, dropped, added]) =>
      Buffer.concat([whole.subarray(0, at), added, whole.subarray(Math.min(at + dropped, whole.length))]),
    );
  return fc.oneof(cut, spliced);
}
