import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FIREWALL_OPS } from '../conformance/ops/firewall.ts';

interface Case {
  id: string;
  op: string;
  input: never;
  expected: unknown;
}

const FILE = process.env['WAYGATE_CASES'] ?? '/work/shared/cases/gateway.json';
const { groups } = JSON.parse(readFileSync(FILE, 'utf8')) as { groups: Record<string, Case[]> };

describe.each(['envelope', 'execute_envelope', 'view_selectors', 'secrets'])('the cases of %s', (group) => {
  it.each((groups[group] ?? []).map((one) => [one.id, one] as const))('%s', async (_, { op, input, expected }) => {
    expect(await FIREWALL_OPS[op]?.(input)).toEqual(expected);
  });
});
