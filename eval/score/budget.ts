const BYTES_PER_TOKEN = 4;

export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** The beginning of a text, as many whole characters as fit. */
export function takeFirstTokens(text: string, tokens: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= tokens * BYTES_PER_TOKEN) return text;
  let end = tokens * BYTES_PER_TOKEN;
  while (end > 0 && isInsideCharacter(bytes[end])) end--;
  return bytes.toString('utf8', 0, end);
}

export function takeLastTokens(text: string, tokens: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= tokens * BYTES_PER_TOKEN) return text;
  let start = bytes.length - tokens * BYTES_PER_TOKEN;
  while (start < bytes.length && isInsideCharacter(bytes[start])) start++;
  return bytes.toString('utf8', start);
}

function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
