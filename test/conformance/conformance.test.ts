import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ConformanceFile, difference, runConformance } from './conformance.ts';
import { operations, overruled } from './operations.ts';

/** Groups of `gateway.json` whose operations exist; a new room adds its own. */
const CLAIMED = [
  'tool_id_format',
  'tool_id_parse',
  'hash8',
  'infer_namespace',
  'ingest_tool',
  'path_parse',
  'path_resolve',
  'tokens',
  'truncate_description',
  'tags_cap',
  'safety',
  'card_shape',
  'card_render',
  'ordering',
  'card_budget',
  'primitive_id',
  'primitive_ingest',
  'collisions',
  'real_catalog_ids',
  'cache_stable',
  'catalog_hash',
  'selection_schema',
  'selection_validate',
  'browse_errors',
  'errors',
  'redaction',
  'error_classification',
  'arg_repairs',
  'retry',
  'cache',
  'rate_limits',
  'execute_errors',
  'dry_run',
  'refresh',
  'schema_health',
  'policy',
  'presets',
  'visibility',
  'envelope',
  'execute_envelope',
  'view_selectors',
  'secrets',
  'diagnostics',
  'vscode_import',
  'upstream_filters',
  'upstream_config',
  'startup_policy',
  'live_refresh_config',
  'artifact_config',
];

const CASES = 'test/fixtures/conformance/gateway.json';

describe('the conformance cases', () => {
  const file = JSON.parse(readFileSync(CASES, 'utf8')) as ConformanceFile;

  it.each(CLAIMED)('%s', async (group) => {
    const results = await runConformance(file, { operations, overruled, groups: [group] });
    expect(results.length).toBeGreaterThan(0);
    expect(results.filter((result) => result.outcome === 'failed')).toEqual([]);
  });

  it('list no passing case as overruled', async () => {
    const results = await runConformance(file, { operations, overruled, groups: CLAIMED });
    const lost = results.filter((result) => result.outcome === 'overruled').map((result) => result.id);
    expect(lost).toEqual(overruled.map((entry) => entry.id));
  });
});

describe('the case runner', () => {
  const one = (expected: unknown): ConformanceFile => ({
    groups: { g: [{ id: 'c', op: 'o', input: 1, expected }] },
  });
  const table = { g: { o: { run: (input: unknown) => ({ value: input }) } } };

  it('passes equal values, and reports the first difference', async () => {
    const run = async (expected: unknown) =>
      (await runConformance(one(expected), { operations: table, overruled: [] }))[0];
    expect(await run({ value: 1 })).toMatchObject({ outcome: 'passed' });
    expect(await run({ value: 2 })).toMatchObject({ outcome: 'failed', why: '/value: expected 2, got 1' });
    expect(await run({ value: 1, more: null })).toMatchObject({ outcome: 'failed' });
  });

  it('counts an unknown operation as failed', async () => {
    const [result] = await runConformance(one({}), { operations: {}, overruled: [] });
    expect(result).toMatchObject({ outcome: 'failed', why: 'not implemented: g / o' });
  });

  it('fails without a crash if an operation throws', async () => {
    const throwing = {
      g: {
        o: {
          run: () => {
            throw new Error('boom');
          },
        },
      },
    };
    const [result] = await runConformance(one({}), { operations: throwing, overruled: [] });
    expect(result).toMatchObject({ outcome: 'failed', why: 'threw Error: boom' });
  });

  it('matches <any> with any string, and with strings only', () => {
    expect(difference({ message: '<any>' }, { message: 'x' }, '')).toBeUndefined();
    expect(difference({ message: '<any>' }, {}, '')).toBeDefined();
  });
});
