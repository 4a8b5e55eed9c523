/** Equal to the version in package.json; a test holds them together, so that no start has to read that file. */
export const VERSION = '0.1.0';
