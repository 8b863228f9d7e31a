import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import { runOnChange } from '../../scripts/lib/watch.mjs';
import { until } from '../support/hostProcess.ts';

test('a watch build builds at the start and after a change, one build at a time, and once for all changes during a build', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wg-watch-'));
  mkdirSync(join(folder, 'room'));
  const source = join(folder, 'room', 'a.ts');
  const finish: (() => void)[] = [];
  const stop = runOnChange([folder], () => new Promise<void>((resolve) => finish.push(resolve)));
  onTestFinished(() => {
    stop();
    rmSync(folder, { recursive: true });
  });
  const started = (builds: number) => until(`${builds} builds`, () => finish.length === builds || undefined);
  await started(1);
  finish[0]?.();
  await until('a build after a change', () => {
    writeFileSync(source, String(Math.random()));
    return finish.length === 2 || undefined;
  });
  for (const change of ['1', '2', '3']) writeFileSync(source, change);
  finish[1]?.();
  await started(3);
  finish[2]?.();
  writeFileSync(join(folder, 'b.ts'), '');
  await started(4);
});
