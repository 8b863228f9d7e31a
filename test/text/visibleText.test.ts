import { describe, expect, it } from 'vitest';
import { visibleData, visibleJson, visibleText, withoutHidden } from '../../src/text/visibleText.ts';

describe('hidden characters', () => {
  it.each([
    ['a terminal sequence', '\u001b[31mred\u001b[0m', '\\u001b[31mred\\u001b[0m'],
    ['the C1 form of it', '\u009b31m', '\\u009b31m'],
    ['a carriage return that overwrites', 'shown\rhidden', 'shown\\u000dhidden'],
    ['zero-width characters', 'a\u200bb\u2060c\ufeffd', 'a\\u200bb\\u2060c\\ufeffd'],
    ['a joiner between Latin letters', 'a\u200db\u200cc', 'a\\u200db\\u200cc'],
    ['bidirectional controls', '\u202eabc\u2066d', '\\u202eabc\\u2066d'],
    ['TAG characters', 'x\u{e0041}\u{e0042}', 'x\\u{e0041}\\u{e0042}'],
    ['TAG characters behind a flag that is none', '🏴\u{e0041}\u{e007f}', '🏴\\u{e0041}\\u{e007f}'],
    ['a run of variation selectors', 'a\ufe0f\ufe01\u{e0101}', 'a\\ufe0f\\ufe01\\u{e0101}'],
    ['a second selector behind an emoji', '❤\ufe0f\ufe0f', '❤\ufe0f\\ufe0f'],
    ['fillers', 'a\u3164b\u115fc', 'a\\u3164b\\u115fc'],
    ['what a font may leave out', 'a\ufff0b\u{1bca0}c\u180ed', 'a\\ufff0b\\u{1bca0}c\\u180ed'],
    ['annotation and format of hieroglyphs', '\ufff9a\ufffb\u{13437}', '\\ufff9a\\ufffb\\u{13437}'],
    ['noncharacters', 'a\ufffeb\ufdd0', 'a\\ufffeb\\ufdd0'],
    ['line separators', 'a\u2028b', 'a\\u2028b'],
    ['half of a surrogate pair', 'a\ud800b\udc00', 'a\\ud800b\\udc00'],
  ])('shows %s', (_, text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  it.each([
    ['line breaks and tabs', 'a\tb\nc\r\nd'],
    ['a family', '👩‍👩‍👧‍👦'],
    ['a skin tone, and a heart on fire', '👍🏽 ❤️‍🔥'],
    ['a keycap', '1️⃣'],
    ['the flag of Scotland', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
    ['Persian', 'نامه‌ای'],
    ['Devanagari', 'क्‍ष'],
    ['a Japanese name', '葛󠄀城'],
    ['accents put together', 'e\u0301'],
  ])('keeps %s', (_, text) => {
    expect(visibleText(text)).toBe(text);
  });

  it('are shown wherever they stand alone, and no other character is', () => {
    const hidden =
      /[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{fff9}-\u{fffb}\u{13430}-\u{1343f}]/u;
    const wrong: string[] = [];
    for (let point = 0; point <= 0x10ffff; point++) {
      const character = String.fromCodePoint(point);
      const isHidden = hidden.test(character) && character !== '\t' && character !== '\n';
      if ((visibleText(character) !== character) !== isHidden) wrong.push(point.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  it('is idempotent', () => {
    // A joiner beside a hidden character of a script that needs joiners: nothing is left for it to join.
    for (const text of ['\u001b[0m\u200b\u{e0041}', 'ن\u200c\u17b4', '\u061c\u200cن']) {
      const shown = visibleText(text);
      expect(visibleText(shown)).toBe(shown);
    }
  });

  it('become escapes of JSON in JSON, which parses to the same data', () => {
    const data = { 'k\u202e': ['\u{e0041}', '👩‍👩‍👧‍👦', '\u009b\u007f', 'a\nb'] };
    const json = visibleJson(data);
    expect(json).toBe('{"k\\u202e":["\\udb40\\udc41","👩‍👩‍👧‍👦","\\u009b\\u007f","a\\nb"]}');
    expect(JSON.parse(json)).toEqual(data);
    expect(visibleJson(undefined)).toBe('null');
    expect(visibleJson({ a: '\u200b' }, 2)).toBe('{\n  "a": "\\u200b"\n}');
  });

  it('are visible in data at any depth, in names of members too', () => {
    expect(visibleData({ 'k\u202e': [{ a: '\u200b' }, 1, null], __proto__: null })).toEqual({
      'k\\u202e': [{ a: '\\u200b' }, 1, null],
    });
  });

  it('leave a text that has no room for escapes, control characters for a space', () => {
    expect(withoutHidden('a\u200bb\u{e0041}\u001b[0m\u{e0101}❤️')).toBe('ab [0m❤️');
  });
});
