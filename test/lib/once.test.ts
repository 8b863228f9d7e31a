import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { once, weakOnce } from '../../src/lib/once.ts';

it.each([once, weakOnce])('makes a value once, at the first call (%o)', (kind) => {
  let made = 0;
  const value = kind(() => ({ made: ++made }));
  expect(made).toBe(0);
  expect(value()).toBe(value());
  expect(made).toBe(1);
});

it('makes a weak value again after a collection, and keeps it within one turn', () => {
  const script = `
    import { setImmediate as nextTurn } from 'node:timers/promises';
    import { weakOnce } from ${JSON.stringify(resolve('src/lib/once.ts'))};
    let made = 0;
    const value = weakOnce(() => ({ nth: ++made }));
    const seen = [value().nth];
    gc();
    seen.push(value().nth);
    await nextTurn();
    gc();
    seen.push(value().nth);
    process.stdout.write(JSON.stringify(seen));
  `;
  const args = ['--expose-gc', '--input-type=module', '-e', script];
  expect(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))).toEqual([1, 1, 2]);
});
