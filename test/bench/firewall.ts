/**
 * Measures time and memory for a large result: `node --expose-gc test/bench/firewall.ts`. Each row runs in a separate
 * process to have its own peak. The memory includes the result itself.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { ArtifactStore } from '../../src/results/artifacts/artifactStore.ts';
import { viewArtifact } from '../../src/results/artifacts/viewArtifact.ts';
import { Firewall } from '../../src/results/firewall.ts';

const MB = 1024 * 1024;
const CALL = { toolId: 'bench:large#00000000', upstreamName: 'large' };

const SHAPES: Readonly<Record<string, (chars: number) => Record<string, unknown>>> = {
  log: (chars) => text(repeated('2026-03-04T12:00:00.123Z INFO request handled in 12 ms by worker 7\n', chars)),
  json: (chars) => text(`[${repeated('{"id":12,"name":"Alice","tags":["a","b"],"note":null},', chars)}0]`),
  csv: (chars) => text(`id,name,note\n${repeated('12,Alice,"a ""quoted"" note"\n', chars)}`),
  'two-byte text': (chars) => text(repeated('Größe — überall dieselbe. ', chars)),
  image: (chars) => ({
    content: [{ type: 'image', mimeType: 'image/png', data: Buffer.alloc((chars / 4) * 3, 7).toString('base64') }],
  }),
  structured: (chars) => ({
    content: [],
    structuredContent: { rows: Array.from({ length: chars / 50 }, (_, i) => ({ id: i, name: 'Alice', note: 'ok' })) },
  }),
};

function text(words: string): Record<string, unknown> {
  return { content: [{ type: 'text', text: words }] };
}

/** Returns a flat string, as JSON.parse would. */
function repeated(line: string, chars: number): string {
  return Buffer.from(line.repeat(Math.ceil(chars / line.length))).toString();
}

async function measure(shape: string, chars: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'waygate-bench-'));
  const store = new ArtifactStore({ folder: join(folder, 'artifacts') });
  const firewall = new Firewall({ store });
  for (let i = 0; i < 20; i++) await firewall.admit(SHAPES[shape]?.(20_000) ?? {}, CALL);
  await store.flush();
  gc();
  const base = process.memoryUsage().rss;
  let result: Record<string, unknown> | undefined = SHAPES[shape]?.(chars);
  gc();
  const held = process.memoryUsage().rss;
  const reset = resetPeak();
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const started = performance.now();
  const answer = await firewall.admit(result as Record<string, unknown>, CALL);
  const ms = performance.now() - started;
  loop.disable();
  const peak = reset ? peakRss() : process.resourceUsage().maxRSS * 1024;
  const handle = (await store.list(1))[0]?.info.handle ?? '';
  const viewStarted = performance.now();
  await viewArtifact(store, handle, { type: 'tail', lines: 5 });
  const viewMs = performance.now() - viewStarted;
  result = undefined;
  const answerChars = answer.text.length;
  await store.flush();
  gc();
  await new Promise((resolve) => setTimeout(resolve, 200));
  gc();
  const after = process.memoryUsage().rss;
  const of = (bytes: number): string => ((bytes - base) / chars).toFixed(2);
  const row = [
    shape.padEnd(14),
    `${(chars / MB).toFixed(0)} MB`.padStart(7),
    `${ms.toFixed(0)} ms`.padStart(9),
    `longest turn ${(loop.max / 1e6).toFixed(0)} ms`.padStart(22),
    `held ×${of(held)} peak ×${of(peak)} after ×${of(after)}`,
    `answer ${answerChars} characters`,
    `tail in ${viewMs.toFixed(1)} ms`,
  ];
  process.stdout.write(`${row.join('  ')}\n`);
  rmSync(folder, { recursive: true });
}

/** Resets the memory peak of this process. Only Linux can do that. */
function resetPeak(): boolean {
  try {
    execFileSync('sh', ['-c', `echo 5 > /proc/${process.pid}/clear_refs`]);
    return true;
  } catch {
    return false;
  }
}

function peakRss(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
}

/** Measures the time for a small result, which is passed on unchanged. */
async function measureSmall(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'waygate-bench-'));
  const store = new ArtifactStore({ folder: join(folder, 'artifacts') });
  const firewall = new Firewall({ store });
  const times: number[] = [];
  for (let i = 0; i < 4_000; i++) {
    const started = performance.now();
    await firewall.admit(text(`{"id": ${i}, "state": "open", "title": "a small result"}`), CALL);
    times.push(performance.now() - started);
    if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await store.flush();
  times.splice(0, 500);
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(times.length * share)] as number).toFixed(3);
  process.stdout.write(`small result: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`);
  rmSync(folder, { recursive: true });
}

declare const gc: () => void;

const [shape, megabytes] = process.argv.slice(2);
if (shape === 'small') await measureSmall();
else if (shape) await measure(shape, Number(megabytes) * MB);
else {
  for (const size of ['1', '100']) {
    for (const name of Object.keys(SHAPES)) {
      execFileSync(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), name, size], { stdio: 'inherit' });
    }
  }
  execFileSync(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), 'small'], { stdio: 'inherit' });
}
