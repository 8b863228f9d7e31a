import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dispatchOperations } from '../conformance/ops/dispatch.ts';

interface Case {
  id: string;
  op: string;
  input: never;
  expected: unknown;
}

const path = `${process.env.WAYGATE_SHARED ?? '/work/shared'}/cases/gateway.json`;
const file = existsSync(path)
  ? (JSON.parse(readFileSync(path, 'utf8')) as { groups: Record<string, Case[]> })
  : { groups: {} as Record<string, Case[]> };

describe.skipIf(!existsSync(path))('the shared cases of the call pipeline', () => {
  for (const [group, operations] of Object.entries(dispatchOperations)) {
    it.each(file.groups[group] ?? [])(`${group}: $id`, async ({ op, input, expected }) => {
      const operation = operations[op];
      expect(operation, `no operation "${op}"`).toBeDefined();
      expect(await operation?.run(input, { expected, file })).toEqual(withAny(expected));
    });
  }
});

/** `<any>` agrees with any text. */
function withAny(value: unknown): unknown {
  if (value === '<any>') return expect.any(String);
  if (Array.isArray(value)) return value.map(withAny);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withAny(child)]));
}
