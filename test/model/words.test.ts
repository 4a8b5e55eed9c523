import { describe, expect, it } from 'vitest';
import { findContentWords } from '../../src/model/text.ts';

describe('words that carry meaning', () => {
  it('are folded, once each, without those that any text has', () => {
    expect(findContentWords("The upload's Retry and the retry, to_be re-tried")).toEqual([
      "upload's",
      'retry',
      'to_be',
      're-tried',
    ]);
  });

  it('are whole where letters carry marks', () => {
    expect(findContentWords('परीक्षण लिखना')).toEqual(['परीक्षण', 'लिखना']);
    expect(findContentWords('re\u0301seau')).toEqual(['re\u0301seau']);
  });

  it('are pairs of characters where no spaces tell them apart', () => {
    expect(findContentWords('上传失败 Redis')).toEqual(['redis', '上传', '传失', '失败']);
    const goal = new Set(findContentWords('修复上传'));
    expect(findContentWords('上传失败时重试').some((word) => goal.has(word))).toBe(true);
  });
});
