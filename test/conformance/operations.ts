import type { OperationTable, OverruledCase } from './conformance.ts';
import { dispatchOperations } from './ops/calls.ts';
import { catalogOperations, catalogOverruled } from './ops/catalog.ts';
import { configOperations } from './ops/config.ts';
import { diagnosticsOperations, diagnosticsOverruled } from './ops/diagnostics.ts';
import { modeOperations, modeOverruled } from './ops/modes.ts';
import { routingOperations } from './ops/ranking.ts';
import { FIREWALL_OPS } from './ops/results.ts';

const firewallGroup = Object.fromEntries(
  Object.entries(FIREWALL_OPS).map(([op, run]) => [op, { run: (input: unknown) => run(input as never) }]),
);

/** All operations, room by room. */
export const operations: OperationTable = {
  ...catalogOperations,
  ...configOperations,
  ...routingOperations,
  ...modeOperations,
  ...dispatchOperations,
  diagnostics: diagnosticsOperations,
  envelope: firewallGroup,
  execute_envelope: firewallGroup,
  view_selectors: firewallGroup,
  secrets: firewallGroup,
};

export const overruled: readonly OverruledCase[] = [...modeOverruled, ...catalogOverruled, ...diagnosticsOverruled];
