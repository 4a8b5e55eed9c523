/** Equal to the version in package.json; a test holds them together, so that no start has to read that file. */
export const VERSION = '0.1.0';

/** Filled in by the build: differs whenever the source does. */
declare const __BUILD__: string | undefined;
export const BUILD: string = typeof __BUILD__ === 'string' ? __BUILD__ : 'source';
