import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const tests = globSync('test/**/*.ts').map((file) => file.replaceAll('\\', '/'));
const using = (pattern: RegExp): string[] => tests.filter((file) => pattern.test(readFileSync(file, 'utf8'))).sort();

it('tests read nothing outside the clone, except listings that have a generated replacement', () => {
  expect(tests.length).toBeGreaterThan(200);
  expect(using(/['"](?:\.\.\/)+shared\/(?:cases|data)\//)).toEqual([
    'test/bench/catalog.ts',
    'test/catalog/sampleListings.ts',
  ]);
});

it('no test is skipped because of a missing file, except for a device that only Linux has', () => {
  expect(using(/skipIf\(!existsSync\((?!'\/dev\/)/)).toEqual([]);
});
