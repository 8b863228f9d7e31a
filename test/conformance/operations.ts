import type { OperationTable, OverruledCase } from './conformance.ts';
import { catalogOperations, catalogOverruled } from './ops/catalog.ts';

/** All operations there are, room by room. */
export const operations: OperationTable = { ...catalogOperations };

export const overruled: readonly OverruledCase[] = [...catalogOverruled];
