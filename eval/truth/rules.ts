const RULE = /\b(?:never|always|must|mustn['’]t|don['’]t|do not|prefer|make sure|instead of)\b|\buse\b.+\binstead\b/i;
const SENTENCE_END = /(?<=[.!?])\s+|\n+/;
const WORDS = { fewest: 4, most: 60 };

/** Sentences by which a human set how the work is to be done. They hold until they are taken back. */
export function findRules(messages: readonly string[]): Set<string> {
  const sentences = messages.flatMap((message) => message.split(SENTENCE_END)).map((text) => text.trim());
  return new Set(
    sentences.filter((sentence) => {
      const words = sentence.split(/\s+/).length;
      return words >= WORDS.fewest && words <= WORDS.most && RULE.test(sentence) && !sentence.endsWith('?');
    }),
  );
}
