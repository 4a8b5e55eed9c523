/** An access key and its secret. */
export interface KeyPair {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Reads a profile of a file in the form of `~/.aws/credentials`; null when it is not there, or not whole. */
export function parseCredentials(text: string, profile: string): KeyPair | null {
  const found = new Map<string, string>();
  let section = '';
  for (const line of text.split(/\r?\n/)) {
    const [, heading] = /^\s*\[\s*(?:profile\s+)?([^\]]*?)\s*\]\s*$/.exec(line) ?? [];
    if (heading !== undefined) section = heading;
    const [, key, value] = /^\s*([A-Za-z_]+)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
    if (section === profile && key !== undefined && value !== undefined) found.set(key.toLowerCase(), value);
  }
  const accessKeyId = found.get('aws_access_key_id');
  const secretAccessKey = found.get('aws_secret_access_key');
  return accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey };
}
