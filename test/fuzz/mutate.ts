export type Random = (below: number) => number;

/** Xorshift: the same numbers for the same seed. */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** What is likely to matter to a reader. */
const WORDS = [
  ...['\0', '\n', '\r\n', '"', '\\', '{', '}', '[', ']', ',', ':', 'null', 'true', '-1', '0', '1e999'],
  ...['9007199254740993', '"__proto__":', '"constructor":', '\\u0000', '\\ud800', '\u202e', '\u001b[31m'],
  ...['../', '/etc/passwd', '# key: none\n', '# sequence: 999999999999999\n', 'trusted comment: '],
  ...['handovers.jsonl', 'manifest.minisig', '77777777777', 'age-encryption.org/v1\n'],
  ...['-> scrypt AAAAAAAAAAAAAAAAAAAAAA 30\n', '"version":3', '"version":-7', '"ciphertext":"AAAA"'],
  ...['"next":null', 'scrypt(N=1073741824,r=8,p=1)'],
].map((word) => Buffer.from(word));

type Change = (bytes: Buffer, random: Random, seeds: readonly Buffer[]) => Buffer;

const CHANGES: readonly Change[] = [
  (bytes, random) => splice(bytes, placeIn(bytes, random), { without: 1, word: Buffer.from([random(256)]) }),
  (bytes, random) => {
    const word = pick(WORDS, random);
    return splice(bytes, placeIn(bytes, random), { without: word.length, word });
  },
  (bytes, random) => splice(bytes, placeIn(bytes, random), { without: 0, word: pick(WORDS, random) }),
  (bytes, random) => splice(bytes, placeIn(bytes, random), { without: random(64), word: Buffer.alloc(0) }),
  (bytes, random) => bytes.subarray(0, placeIn(bytes, random)),
  (bytes, random) => {
    const word = Buffer.alloc(random(600), random(256));
    return splice(bytes, placeIn(bytes, random), { without: 0, word });
  },
  (bytes, random) => {
    const from = placeIn(bytes, random);
    const word = bytes.subarray(from, from + random(600));
    return splice(bytes, placeIn(bytes, random), { without: 0, word });
  },
  (bytes, random, seeds) => {
    const other = pick(seeds, random);
    return Buffer.concat([bytes.subarray(0, placeIn(bytes, random)), other.subarray(placeIn(other, random))]);
  },
  (bytes, random) => {
    const at = placeIn(bytes, random);
    const flipped = Buffer.from([(bytes[at] ?? 0) ^ (1 << random(8))]);
    return splice(bytes, at, { without: 1, word: flipped });
  },
];

/** One of the seeds, changed one to four times. */
export function mutate(seeds: readonly Buffer[], random: Random): Buffer {
  let bytes = pick(seeds, random);
  for (let left = 1 + random(4); left > 0; left--) bytes = pick(CHANGES, random)(bytes, random, seeds);
  return bytes;
}

function pick<T>(items: readonly T[], random: Random): T {
  const item = items[random(items.length)];
  if (item === undefined) throw new RangeError('there is nothing to pick from');
  return item;
}

function placeIn(bytes: Buffer, random: Random): number {
  return random(bytes.length + 1);
}

function splice(bytes: Buffer, at: number, { without, word }: { without: number; word: Buffer }): Buffer {
  return Buffer.concat([bytes.subarray(0, at), word, bytes.subarray(at + without)]);
}
