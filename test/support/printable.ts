/** What no command may let through: controls that a terminal acts on, and characters that hide or turn text. */
const UNSAFE: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['control', /[\u0000-\u0008\u000b-\u001f\u007f]/],
  ['C1 control', /[\u0080-\u009f]/],
  ['bidirectional control', /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/],
  ['zero-width character', /[\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff]/],
  ['line or paragraph separator', /[\u2028\u2029]/],
  ['tag character', /[\u{e0000}-\u{e007f}]/u],
  ['selector or blank', /[\u180b-\u180f\u2800\ufe00-\ufe0e]/],
  ['selector or blank', /[\u{13430}-\u{13455}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0100}-\u{e0fff}]/u],
  ['joiner in a script that has none', /\p{Script=Latin}[\u200c\u200d]|[\u200c\u200d]\p{Script=Latin}/u],
];

/** Each unsafe character, with what stands around it; empty when the text is fit to be shown. */
export function findUnsafe(text: string): string[] {
  return UNSAFE.flatMap(([name, pattern]) => {
    const at = text.search(pattern);
    return at === -1 ? [] : [`${name}: ${JSON.stringify(text.slice(Math.max(0, at - 30), at + 30))}`];
  });
}

/** The tags and tokens on quoted lines by which an agent could take what follows for somebody else's words. */
export function findFrames(brief: string): string[] {
  const quoted = brief.split('\n').filter((line) => line.startsWith('> '));
  return quoted.flatMap((line) => line.match(/<\/?(?:handover|system|user)|<\||<<SYS|\[INST/gi) ?? []);
}

/** The same for what a terminal was sent: our own colours, and wiping a line, are not counted. */
export function findUnsafeInTerminal(text: string): string[] {
  return findUnsafe(text.replace(/\u001b\[\d+m|\r?\u001b\[K|\r/g, ''));
}
