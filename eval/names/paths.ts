import { WORD } from './characters.ts';

/** As patterns. */
const EXTENSIONS = `
  tsx? jsx? mjs cjs mts py go rs java kt swift rb php c h cc cpp hpp cs m mm scala sh bash zsh ps1 bat sql
  md mdx rst txt json jsonl ya?ml toml ini cfg conf env lock xml html? css scss vue svelte dart lua proto
  graphql tf gradle mod sum work Dockerfile ipynb csv arb plist service nix
`
  .trim()
  .split(/\s+/);
const PATH_BODY = String.raw`(?:~|\.{1,2})?\/?(?:[${WORD}.@+\-\[\]\(\)]+\/)*[${WORD}.@+\-\[\]]+\.(?:${EXTENSIONS.join('|')})`;
const PATH = new RegExp(String.raw`(?<![${WORD}@:\/.\-])${PATH_BODY}(?![${WORD}\/])`, 'gu');
const WHOLE_PATH = new RegExp(`^${PATH_BODY}$`, 'u');

export function baseName(path: string): string {
  const trimmed = path.replace(/\/+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

export function findPaths(text: string): Set<string> {
  return new Set([...text.matchAll(PATH)].map(([path]) => path).filter((path) => !path.startsWith('//')));
}

export function isPath(text: string): boolean {
  return WHOLE_PATH.test(text);
}
