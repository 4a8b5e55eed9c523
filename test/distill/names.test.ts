import { describe, expect, it } from 'vitest';
import { findBackticked, findDefinitions, findPaths, findQualified, findSymbols } from '../../src/distill/names.ts';

describe('names in a text', () => {
  it('are found from the beginning of a text, whatever was looked for before', () => {
    const text = 'hooks.go and docs/guide.md';
    expect(findPaths(text)).toEqual(['hooks.go', 'docs/guide.md']);
    expect(findQualified('os.path.join reads settings.json')).toEqual(['os.path.join']);
    expect(findPaths(text)).toEqual(['hooks.go', 'docs/guide.md']);
  });

  it('are given without the marks around them', () => {
    expect(findSymbols('call retry_upload, then flush() and startOver()')).toEqual([
      'retry_upload',
      'startOver',
      'flush',
    ]);
    expect(findBackticked('use `npm test` or ` make `')).toEqual(['npm test', 'make']);
    expect(findDefinitions('func (s *Server) Listen() {}\nexport default async function loadAll() {}')).toEqual([
      'Listen',
      'loadAll',
    ]);
  });
});
