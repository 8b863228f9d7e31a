/**
 * Measures validation: `node test/bench/validation.ts`. The target is 1,000 cached validations of a typical schema in
 * less than 5 ms. The other figures show why some schemas go to a thread (src/calls/validation/argumentValidator.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../src/calls/json.ts';
import { ArgumentValidator } from '../../src/calls/validation/argumentValidator.ts';
import { SchemaCompiler } from '../../src/calls/validation/compileSchema.ts';
import { linearEngine } from '../../src/calls/validation/linearPattern.ts';
import { type ReadSchema, readSchema } from '../../src/calls/validation/metaSchema.ts';
import { percentile } from './measure.ts';

const TARGET_MS = 5;

/** Schema of a typical issue search: 300 bytes, an enum, a bound, a list. */
const TYPICAL = (): JsonObject => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    owner: { type: 'string', description: 'Who owns the repository' },
    repo: { type: 'string', pattern: '^[\\w.-]+$' },
    state: { type: 'string', enum: ['open', 'closed', 'all'] },
    per_page: { type: 'integer', minimum: 1, maximum: 100 },
    labels: { type: 'array', items: { type: 'string' } },
    since: { type: 'string', format: 'date-time' },
  },
  required: ['owner', 'repo'],
  additionalProperties: false,
});
const ARGS = {
  owner: 'me',
  repo: 'a-repo',
  state: 'open',
  per_page: 30,
  labels: ['bug'],
  since: '2026-01-01T00:00:00Z',
};

const wide = (properties: number): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: properties }, (_, i) => [`p${i}`, { type: 'string', description: 'x' }]),
  ),
});

function report(what: string, milliseconds: readonly number[]): number {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const [median, high] = [percentile(sorted, 0.5), percentile(sorted, 0.95)];
  console.log(`${what.padEnd(52)} p50 ${median.toFixed(3).padStart(9)} ms   p95 ${high.toFixed(3).padStart(9)} ms`);
  return median;
}

async function times(n: number, work: () => unknown): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < n; i++) {
    const started = performance.now();
    await work();
    taken.push(performance.now() - started);
  }
  return taken;
}

const validator = new ArgumentValidator();
const started = performance.now();
validator.warmUp();
console.log(
  `${'warm-up: both meta-schemas'.padEnd(52)}     ${(performance.now() - started).toFixed(3).padStart(9)} ms`,
);

const typical = TYPICAL();
const thousand = async () => {
  for (let i = 0; i < 1_000; i++) {
    const verdict = await validator.validate(typical, ARGS);
    if (verdict.kind !== 'valid') throw new Error(`the typical arguments are ${verdict.kind}`);
  }
};
await times(20, thousand);
const median = report('1,000 cached validations of a typical schema', await times(50, thousand));
report('first validation of a typical schema (compiled)', await times(200, () => validator.validate(TYPICAL(), ARGS)));

const compile = (schema: JsonObject) => {
  const compiler = new SchemaCompiler<string>(linearEngine, 2);
  const read = readSchema(schema) as ReadSchema;
  return () => compiler.validator(`k${Math.random()}`, () => ({ ...read, schema: { ...read.schema } }));
};
for (const properties of [25, 50, 100, 200, 500]) {
  report(`compiling ${properties} properties on the loop`, await times(10, compile(wide(properties))));
}

const large = wide(400);
const before = process.memoryUsage.rss();
report('first question to a thread (start and compile)', await times(1, () => validator.validate(large, { p0: 'x' })));
await sleep(100);
console.log(
  `${'memory of the thread'.padEnd(52)}     ${((process.memoryUsage.rss() - before) / 2 ** 20).toFixed(1).padStart(9)} MB`,
);
report('one validation in the thread, compiled', await times(300, () => validator.validate(large, { p0: 'x' })));
validator.dispose();

console.log(median < TARGET_MS ? `within the target of ${TARGET_MS} ms` : `NOT within the target of ${TARGET_MS} ms`);
process.exitCode = median < TARGET_MS ? 0 : 1;
