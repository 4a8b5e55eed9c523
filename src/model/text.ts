/** A pattern that is made when a text needs it: reading a class of Unicode takes up to a millisecond. */
export function makeLater(make: () => RegExp): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

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
const getUnspaced = makeLater(
  () =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu,
);

/** Words that carry meaning, folded, in any script. In scripts without spaces, every two characters count as a word. */
export function findContentWords(text: string): string[] {
  const folded = text.toLowerCase();
  const runs = folded.match(getUnspaced());
  const spaced = runs === null ? folded : folded.replace(getUnspaced(), ' ');
  const words = spaced.match(/\p{L}[\p{L}\p{M}\p{N}_'-]{2,}/gu) ?? [];
  return [...new Set([...words.filter((word) => !STOP_WORDS.has(word)), ...(runs ?? []).flatMap(pairUp)])];
}

/** Whether a text is in a script that does not separate words by spaces. */
export function isUnspaced(text: string): boolean {
  return text.search(getUnspaced()) !== -1;
}

export function pairUp(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/**
 * Cleaning of text that came from outside. What is stored is well-formed Unicode without terminal escapes, control,
 * bidirectional or invisible characters, so that no reader, human or agent, sees something other than what is there.
 */

const ESC = '\u001b';
const CSI = '\u009b';

const STRING = `[^\u0007\u0090\u0098\u009c-\u009f${ESC}\\n]{0,4096}`;
const STRING_END = `(?:\u0007|\u009c|${ESC}\\\\)`;

/**
 * Terminal sequences as a whole: string sequences (OSC, DCS, SOS, PM, APC) with their content, CSI, and two-byte escapes. One
 * without an end reaches no further than its line; if it begins with a single control, which wrongly decoded text has too, it
 * is no sequence.
 */
const TERMINAL_SEQUENCE = new RegExp(
  [
    `${ESC}[\\]PX^_]${STRING}${STRING_END}?`,
    `[\u0090\u0098\u009d-\u009f]${STRING}${STRING_END}`,
    `(?:${ESC}\\[|${CSI})[0-?]{0,64}[ -/]{0,16}[@-~]?`,
    `${ESC}[ -/]{0,16}[0-Z\\\\-~]?`,
  ].join('|'),
  'g',
);

/** C0 but tab and line feed, DEL, C1. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Format characters that print a sign: of numbers, verses and abbreviations, in Arabic, Syriac and Kaithi. */
const PRINTED_FORMATS = '\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u{110bd}\\u{110cd}';

/** Letters and signs by their category that print nothing: a blank of Braille, of hieroglyphs, of notes and of Khitan. */
const BLANKS = '\\u2800\\u{13430}-\\u{1345f}\\u{1d159}\\u{16fe4}\\ufffc';

/**
 * Whatever is not known to print something: control, format, private and unassigned characters, and those that Unicode
 * says to ignore, with the variation selectors. Joiners and the selector of emoji are judged by their neighbours.
 */
const getInvisible = makeLater(
  () =>
    new RegExp(
      [
        `[^[\\t\\n\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Zs}\\p{Extended_Pictographic}\\u200c\\u200d${PRINTED_FORMATS}]`,
        `[[\\p{Default_Ignorable_Code_Point}--[\\u200c\\u200d\\ufe0f]]${BLANKS}]]`,
      ].join('--'),
      'gv',
    ),
);

/** Scripts in which a joiner, or its absence, makes another letter or word. */
const JOINING_SCRIPTS = [
  ...['Arabic', 'Syriac', 'Nko', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya'],
  ...['Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan'],
]
  .map((script) => `\\p{Script=${script}}`)
  .join('');

/** A joiner stays where writing needs it: between pictographs, and between letters of a joining script. */
const getStrayJoiner = makeLater(
  () =>
    new RegExp(
      `[\\u200c\\u200d](?:${[
        `(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f\\p{M}${JOINING_SCRIPTS}].)`,
        `(?![\\p{Extended_Pictographic}${JOINING_SCRIPTS}])`,
      ].join('|')})`,
      'gu',
    ),
);

/** The selector of emoji stays behind a pictograph, and in a keycap. */
const getStraySelector = makeLater(() => /\ufe0f(?:(?<!\p{Emoji}\ufe0f)|(?<=[0-9#*]\ufe0f)(?!\u20e3))/gu);

/** Everything except ASCII and blocks whose characters all print: most texts have none of it. */
const SUSPECT =
  /[^\t\n\u0020-\u007e\u00a0-\u00ac\u00ae-\u034e\u2010-\u2027\u2030-\u205e\u2190-\u2426\u2460-\u27ff\u3000-\u303f\u3041-\u3096\u30a0-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]/;

/** A fast test: true when a text certainly has nothing to clean or reveal; false when it must be examined. */
export function isPlain(text: string): boolean {
  return !SUSPECT.test(text);
}

export function cleanText(text: string): string {
  if (isPlain(text)) return text;
  const uncontrolled = text
    .toWellFormed()
    .replace(TERMINAL_SEQUENCE, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u2028\u2029]/g, '\n')
    .replace(CONTROL, '');
  // Mostly it was only colours, and the others look at every character.
  if (isPlain(uncontrolled)) return uncontrolled;
  return uncontrolled.replace(getInvisible(), '').replace(getStraySelector(), '').replace(getStrayJoiner(), '');
}

/** Cleaned, on one line, without white space at the ends. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

export function findFirstLine(text: string): string {
  return cleanLine(text.split('\n', 1)[0] ?? '');
}

/** Shows what a terminal would act on, instead of dropping it: for paths and other text that must stay recognisable. */
export function revealControls(text: string): string {
  if (isPlain(text) && !/[\t\n]/.test(text)) return text;
  return text
    .toWellFormed()
    .replace(/[\u0000-\u001f]/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)))
    .replace(/\u007f/g, '\u2421')
    .replace(/[\u0080-\u009f]/g, '\ufffd')
    .replace(getInvisible(), '\ufffd')
    .replace(getStraySelector(), '\ufffd')
    .replace(getStrayJoiner(), '\ufffd');
}

/** The same for a text of several lines: tabs and line ends stay. */
export function revealText(text: string): string {
  return isPlain(text) ? text : text.replace(/[^\n\t]+/g, revealControls);
}

const getUnseenInJson = makeLater(() => new RegExp(`[\u007f-\u009f\u200c\u200d]|${getInvisible().source}`, 'gv'));

/** JSON leaves C1 controls, bidirectional marks, joiners and the like as they are; here they are escaped, each code unit for itself. */
export function escapeUnseen(json: string): string {
  if (isPlain(json)) return json;
  return json.replace(getUnseenInJson(), (char) =>
    char
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/*
 * Marks by which programs and models keep apart who speaks: tags such as the one around a brief, or an agent's own
 * around a hook's words, and the tokens of chat templates. In a quote they are shown but open and close nothing.
 */

/** In the names of tags. */
const SPEAKERS = [
  ...['system', 'user', 'human', 'assistant', 'developer', 'agent', 'model', 'handover', 'reminder', 'instruct'],
  ...['prompt', 'message', 'turn', 'channel', 'session', 'context', 'memor', 'document', 'tool', 'function'],
  ...['invoke', 'param', 'result', 'output', 'command', 'hook', 'task', 'think', 'reason', 'private', 'antml', 'sys'],
  ...['permission', 'collaboration', 'environment_', 'feedback', 'important', '(?<![a-z])(?:bash-|ide_|arg_)'],
].join('|');

const NAME = `[\\w:.-]{0,32}?(?:${SPEAKERS})`;
const TAG = `<(?:(?:\\s{0,3}/\\s{0,3})?${NAME}|\\s{1,3}${NAME}[\\w:.-]{0,32}\\s{0,3}>|/?(?:s|[be]os|[se]op|inst)\\s{0,3}>)`;
const MARKER = '<\\s{0,3}[|]';
const BRACKET =
  '\\[e~\\[|\\[\\s{0,3}/?\\s{0,3}(?:inst|sys|think|[gs]mask|system_prompt|available_tools|tool_(?:calls|results|content))\\s{0,3}\\]';
const getFrame = makeLater(() => new RegExp(`(?:<(?=<))?(?:${TAG}|${MARKER}|${BRACKET})`, 'gi'));

/** What looks like a bracket, or like a Latin letter of these frames, and is not made of one. */
const LOOKS: ReadonlyMap<string, string> = new Map(
  '‹< 〈< ⟨< ❮< ᐸ< ˂< ❬< 〔[ 【[ ⟦[ ❲[ ⁅[ 〕] 】] ⟧] ❳] ⁆] ›> 〉> ⟩> ❯> ᐳ> ˃> ❭> ⁄/ ∕/ ⧸/ ╱/ ᜵/ │| ┃| ∣| ❘| ǀ| ¦| ɑa ʙb ᴄc ᴅd ᴇe ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ᴛt ᴜu ᴠv ᴡw ʏy ᴢz аa вb сc ԁd еe ғf ɡg нh һh іi јj кk ӏl мm пn оo рp ԛq гr ѕs тt уy ԝw хx αa εe ιi κk μm νv οo ρp τt υu χx ıi'
    .split(' ')
    .map(([look = '', letter = '']) => [look, letter]),
);
const OPENING = /[<[‹⟨❮ᐸ˂❬〔【⟦❲⁅\u3008\u2329\ufe64\uff1c\uff3b]/;

const MARK = /^\p{M}$/u;
/** A round bracket in as many bytes. */
const ROUND: ReadonlyMap<number, string> = new Map([
  [2, '( '],
  [3, '\uff08'],
]);

const ASCII_ONLY = /^[\0-\x7f]*$/;

/** One character for each, so that places stay the same: accents, fullwidth and other styles are Unicode's to fold. */
function foldLook(sign: string): string {
  const [plain = sign] = sign < '\u0080' ? sign : sign.normalize('NFKD');
  const letter = LOOKS.get(plain.toLowerCase()) ?? plain;
  return letter.length === 1 ? letter : '\ufffd';
}

/** The same text, in as many bytes, with a round bracket at the head of each frame. `Promise<User>` is none. */
export function disarmFrames(text: string): string {
  // In ASCII, which is most text, nothing looks like another sign.
  if (!OPENING.test(text) || (ASCII_ONLY.test(text) && text.search(getFrame()) === -1)) return text;
  const signs = [...text];
  // Accents of their own are passed over.
  const places = [...signs.keys()].filter((at) => !MARK.test(signs[at] ?? ''));
  const folded = places.map((at) => foldLook(signs[at] ?? '')).join('');
  for (const { 0: frame, index } of folded.matchAll(getFrame())) {
    if (/^<[A-Z]/.test(frame) && /\w/.test(folded[index - 1] ?? '')) continue;
    const heads = /^<<?|^\[/.exec(frame)?.[0].length ?? 0;
    for (const at of places.slice(index, index + heads)) signs[at] = ROUND.get(countUtf8Bytes(signs[at] ?? '')) ?? '(';
  }
  return signs.join('');
}

/**
 * What a user typed, in a message: in quotes, the beginning of a long one. Only its first line: on one line, a secret and its
 * name would no longer be where secrets are recognised. No word is cut in half but to its first few characters: the better
 * half of a secret would no longer be recognised as one.
 */
export function quoteInput(words: string): string {
  const [first = '', ...more] = words.trim().split(/[\n\r\u0085\u2028\u2029]+/);
  const line = cleanLine(first);
  const cut = cutToBytes(line, 80);
  const shown = cut === line ? line : `${cutLastWord(line, cut.length - 1)}…`;
  return `"${shown}${more.length > 0 ? '…' : ''}"`;
}

/** The beginning of a line up to `end`, less a word that goes on there; of a first word, its first few characters. */
function cutLastWord(line: string, end: number): string {
  if (/\s/.test(line.charAt(end))) return line.slice(0, end);
  const words = /^.*\s(?=\S*$)/.exec(line.slice(0, end))?.[0].trimEnd();
  return words ?? [...line].slice(0, 12).join('');
}

/** A word as a POSIX shell reads it back. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** `1 file`, `2 files`, `2 entries`. */
export function countNouns(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`.replace(/([^aeiou])ys$/, '$1ies')}`;
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
    room -= char < '\u0080' ? 1 : countUtf8Bytes(char);
    if (room < 0) break;
    end += char.length;
  }
  return `${text.slice(0, end).trimEnd()}${ellipsis}`;
}

/** Like `cutToBytes`, but at the end of a word where one is near, so that no name is shown in half, unless nothing else is left. */
export function cutAtWord(text: string, maxBytes: number): string {
  const cut = cutToBytes(text, maxBytes);
  if (cut === text) return text;
  const kept = cut.slice(0, -1);
  const space = kept.lastIndexOf(' ');
  const whole = space > kept.length * 0.6 ? kept.slice(0, space) : kept.replace(/[\w-]+$/, '');
  return `${/[\p{L}\p{N}]/u.test(whole) ? whole : kept}…`;
}

/** The beginning and the end of a text within `maxBytes` of UTF-8: what takes back the beginning is often at the end. */
export function cutInside(text: string, maxBytes: number): string {
  if (countUtf8Bytes(text) <= maxBytes) return text;
  return `${cutAtWord(text, maxBytes * 0.6)} ${cutStart(text, maxBytes * 0.4 - 1)}`;
}

/** The end of a text within `maxBytes` of UTF-8, from the beginning of a word where one is near. */
export function cutStart(text: string, maxBytes: number): string {
  if (countUtf8Bytes(text) <= maxBytes) return text;
  const backwards = [...text].reverse();
  let room = maxBytes - countUtf8Bytes('…');
  const count = backwards.findIndex((char) => {
    room -= countUtf8Bytes(char);
    return room < 0;
  });
  const kept = backwards.slice(0, count).reverse().join('');
  const space = kept.indexOf(' ');
  return `…${space !== -1 && space < kept.length * 0.4 ? kept.slice(space + 1) : kept}`;
}
