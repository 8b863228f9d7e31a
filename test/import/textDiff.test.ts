import { describe, expect, it } from 'vitest';
import { unifiedDiff } from '../../src/import/textDiff.ts';

const lines = (...numbers: (number | string)[]): string => numbers.map((n) => `${n}\n`).join('');

describe('the diff', () => {
  it('shows what changes with three lines around it', () => {
    const before = lines(1, 2, 3, 4, 5, 6, 7, 8, 9);
    expect(unifiedDiff('f', before, lines(1, 2, 3, 4, 'five', 6, 7, 8, 9))).toBe(
      '--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
    );
  });

  it('shows what is far apart in two pieces', () => {
    const before = lines(...Array.from({ length: 20 }, (_, i) => i));
    const after = `first\n${before}last\n`;
    expect(unifiedDiff('f', before, after)).toBe(
      '--- f\n+++ f\n@@ -1,3 +1,4 @@\n+first\n 0\n 1\n 2\n@@ -18,3 +19,4 @@\n 17\n 18\n 19\n+last\n',
    );
  });

  it('shows a new file whole, and nothing where nothing changes', () => {
    expect(unifiedDiff('f', undefined, 'a\n')).toBe('--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n');
    expect(unifiedDiff('f', 'a\r\nb\r\n', 'a\nb\n')).toBe('');
  });
});
