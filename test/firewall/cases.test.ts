import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FIREWALL_OPS } from '../conformance/ops/firewall.ts';

interface Case {
  id: string;
  op: string;
  input: never;
  expected: unknown;
}

const FILE = process.env['WAYGATE_CASES'] ?? '/work/shared/cases/gateway.json';
/** They are given to the project, not part of it. */
const groups: Record<string, Case[]> = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')).groups : {};

describe.runIf(existsSync(FILE)).each(['envelope', 'execute_envelope', 'view_selectors', 'secrets'])(
  'the cases of %s',
  (group) => {
    it.each((groups[group] ?? []).map((one) => [one.id, one] as const))('%s', async (_, { op, input, expected }) => {
      expect(await FIREWALL_OPS[op]?.(input)).toEqual(expected);
    });
  },
);
