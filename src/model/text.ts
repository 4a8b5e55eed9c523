const STOP_WORDS = new Set(
  'the a an and or of to in on for with is are was were be been this that it as at by from not but have has had will would should can could do does did done i we you they he she its their our your which what when where who how if then than so also into out up down over under only just any all each more most some such no yes using used use new now let me'.split(
    ' ',
  ),
);

/** Whether a word, in lower case, is an English stop word. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** Words that carry meaning, folded, in any script. In scripts without spaces, every two characters count as a word. */
export function findContentWords(text: string): string[] {
  const folded = text.toLowerCase();
  const runs = folded.match(UNSPACED);
  const spaced = runs === null ? folded : folded.replace(UNSPACED, ' ');
  const words = spaced.match(/\p{L}[\p{L}\p{M}\p{N}_'-]{2,}/gu) ?? [];
  return [...new Set([...words.filter((word) => !STOP_WORDS.has(word)), ...(runs ?? []).flatMap(pairUp)])];
}

function pairUp(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/**
 * Cleaning of text that came from outside. What is stored is well-formed Unicode without terminal escapes, control,
 * bidirectional or invisible characters, so that no reader, human or agent, sees something other than what is there.
 */

const ESC = '\u001b';
const CSI = '\u009b';

/** Terminal sequences as a whole: string sequences (OSC, DCS, SOS, PM, APC) with their content, CSI, and two-byte escapes. */
const TERMINAL_SEQUENCE = new RegExp(
  [
    `(?:${ESC}[\\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u009c${ESC}]{0,4096}(?:\u0007|\u009c|${ESC}\\\\)?`,
    `(?:${ESC}\\[|${CSI})[0-?]{0,64}[ -/]{0,16}[@-~]?`,
    `${ESC}[ -/]{0,16}[0-Z\\\\-~]?`,
  ].join('|'),
  'g',
);

/** C0 but tab and line feed, DEL, C1. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Bidirectional controls, zero-width and filler characters, tag block, interlinear marks, byte order mark. */
const INVISIBLE =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Scripts in which a joiner, or its absence, makes another letter or word. */
const JOINING_SCRIPTS = [
  ...['Arabic', 'Syriac', 'Nko', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya'],
  ...['Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan'],
]
  .map((script) => `\\p{Script=${script}}`)
  .join('');

/** A joiner stays where writing needs it: between pictographs, and between letters of a joining script. */
const STRAY_JOINER = new RegExp(
  [
    `(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f\\p{M}${JOINING_SCRIPTS}])[\\u200c\\u200d]`,
    `[\\u200c\\u200d](?![\\p{Extended_Pictographic}${JOINING_SCRIPTS}])`,
  ].join('|'),
  'gu',
);

const SUSPECT = /[^\t\n\u0020-\u007e\u00a0-\u00ac\u00ae-\u034e]/;

/** A fast test: true when a text certainly has nothing to clean or reveal; false when it has to be looked at. */
export function isPlain(text: string): boolean {
  return !SUSPECT.test(text);
}

export function cleanText(text: string): string {
  if (isPlain(text)) return text;
  return text
    .toWellFormed()
    .replace(TERMINAL_SEQUENCE, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u2028\u2029]/g, '\n')
    .replace(CONTROL, '')
    .replace(INVISIBLE, '')
    .replace(STRAY_JOINER, '');
}

/** Cleaned, on one line, without white space at the ends. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/** Shows what a terminal would act on, instead of dropping it: for paths and other text that must stay recognisable. */
export function revealControls(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u001f]/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)))
    .replace(/\u007f/g, '\u2421')
    .replace(/[\u0080-\u009f]/g, '\ufffd')
    .replace(INVISIBLE, '\ufffd')
    .replace(STRAY_JOINER, '\ufffd');
}

const UNSEEN_IN_JSON = new RegExp(`[\u007f-\u009f\u200c\u200d]|${INVISIBLE.source}`, 'gu');

/** JSON leaves C1 controls, bidirectional marks, joiners and the like as they are; here they are escaped, each code unit for itself. */
export function escapeUnseen(json: string): string {
  if (isPlain(json)) return json;
  return json.replace(UNSEEN_IN_JSON, (char) =>
    char
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

export function countUtf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** The longest prefix of whole characters within `maxBytes` of UTF-8, closed by an ellipsis when something was cut. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (countUtf8Bytes(text) <= maxBytes) return text;
  const ellipsis = '…';
  let room = maxBytes - countUtf8Bytes(ellipsis);
  let end = 0;
  for (const char of text) {
    room -= countUtf8Bytes(char);
    if (room < 0) break;
    end += char.length;
  }
  return `${text.slice(0, end).trimEnd()}${ellipsis}`;
}

/** Like `cutToBytes`, but at the end of a word where one is near, so that no name is shown in half. */
export function cutAtWord(text: string, maxBytes: number): string {
  const cut = cutToBytes(text, maxBytes);
  if (cut === text) return text;
  const kept = cut.slice(0, -1);
  const space = kept.lastIndexOf(' ');
  return `${space > kept.length * 0.6 ? kept.slice(0, space) : kept.replace(/[\w-]+$/, '')}…`;
}
