/** Without an index, so many of the newest sessions are looked at, or so many bytes of transcripts. */
export const SCANNED: { sessions: number; bytes: number } = { sessions: 40, bytes: 256 * 1024 * 1024 };
