import type { OperationTable, OverruledCase } from './conformance.ts';
import { catalogOperations, catalogOverruled } from './ops/catalog.ts';
import { configOperations } from './ops/config.ts';
import { routingOperations } from './ops/routing.ts';
import { surfaceOperations } from './ops/surface.ts';

/** All operations there are, room by room. */
export const operations: OperationTable = {
  ...catalogOperations,
  ...configOperations,
  ...routingOperations,
  ...surfaceOperations,
};

export const overruled: readonly OverruledCase[] = [...catalogOverruled];
