import { describe, expect, it } from 'vitest';
import { isPlainName, matchesLookAlike, plainName, skeleton } from '../../src/text/lookAlikes.ts';

describe('a rule that forbids a name', () => {
  it.each([
    'delete_row',
    'Delete_Row',
    'DELETE_ROW',
    'delеte_row',
    'delete_rоw',
    'ԁеӏеtе_гоѡ',
    'dеlete＿row',
    'delete\u200b_row',
    'de\u00adlete_row\u{e0041}',
    'delete_row ',
    'ｄelete_row',
    '𝗱𝗲𝗹𝗲𝘁𝗲_row',
    'délète_row',
    'deIete_row',
    'de1ete_r0w',
    'delete_rovv',
    'ᴅᴇʟᴇᴛᴇ_ʀᴏᴡ',
    '🅳🅴🅻🅴🆃🅴_🆁🅾🆆',
    '🅓elete_row',
    // In no table: a letter of another script beside Latin ones.
    'delԑte_row',
    'delⵟte_row',
  ])('holds for %s', (name) => {
    expect(matchesLookAlike('delete_row', name)).toBe(true);
    expect(matchesLookAlike('*delete*', name)).toBe(true);
  });

  it.each(['read_row', 'delete_rows', 'удалить', '删除_row', 'файл'])('does not hold for %s', (name) => {
    expect(matchesLookAlike('delete_row', name)).toBe(false);
  });

  it('keeps the meaning of classes of characters', () => {
    expect(['tool_1', 'Tool_9', 'tool_x'].map((name) => matchesLookAlike('tool_[0-9]', name))).toEqual([
      true,
      true,
      false,
    ]);
    expect(matchesLookAlike('файл', 'read')).toBe(false);
  });
});

it('has one skeleton for look-alike names', () => {
  expect(
    new Set(['github', 'GitHub', 'gіthub', 'g1thub', 'git\u200bhub', 'github ', 'ɢɪᴛʜᴜʙ'].map(skeleton)).size,
  ).toBe(1);
  expect(skeleton('gitlab')).not.toBe(skeleton('github'));
});

it('finds a name plain if a person can read every character', () => {
  expect(['a', 'Ä b.c', '服务器', 'δοκιμή'].map(isPlainName)).toEqual([true, true, true, true]);
  expect(['', ' a', 'a ', 'aб', 'a\u2028b', 'a—b', '😀'].map(isPlainName)).toEqual(Array(7).fill(false));
});

it('makes a plain name of one that another program allows', () => {
  const names = [
    'github',
    'io.github.owner/server',
    '@scope/pkg',
    'a\u200bb',
    'gіt hub',
    '//',
    'Größe ',
    'x'.repeat(99),
  ];
  expect(names.map(plainName)).toEqual([
    'github',
    'io.github.owner-server',
    'scope-pkg',
    'a-b',
    'g-t hub',
    'server',
    'Größe',
    'x'.repeat(64),
  ]);
});
