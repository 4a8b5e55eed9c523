import { describe, expect, it } from 'vitest';
import { findContentWords } from '../../src/model/text.ts';

describe('the significant words of a text', () => {
  it('are case-folded, unique, and without stop words', () => {
    expect(findContentWords("The upload's Retry and the retry, to_be re-tried")).toEqual([
      "upload's",
      'retry',
      'to_be',
      're-tried',
    ]);
  });

  it('are whole where letters have diacritics', () => {
    expect(findContentWords('परीक्षण लिखना')).toEqual(['परीक्षण', 'लिखना']);
    expect(findContentWords('re\u0301seau')).toEqual(['re\u0301seau']);
  });

  it('are pairs of characters in scripts without spaces', () => {
    expect(findContentWords('上传失败 Redis')).toEqual(['redis', '上传', '传失', '失败']);
    const goal = new Set(findContentWords('修复上传'));
    expect(findContentWords('上传失败时重试').some((word) => goal.has(word))).toBe(true);
  });
});
