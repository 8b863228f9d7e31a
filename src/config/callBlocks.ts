import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser';
import type { FileLocation } from './gatewayConfig.ts';

/** The blocks that say how calls are made. Their meaning is dispatch's; the file and its places are ours. */
export const CALL_KEYS = [
  'tolerantArgs',
  'policyPreset',
  'policy',
  'retry',
  'rateLimits',
  'cache',
  'schemaLimits',
  'timeouts',
  'replay',
] as const;

export interface CallBlocks {
  /** By their names in the file. */
  values: Readonly<Record<string, unknown>>;
  /** Where a path within them stands in the file; the nearest that is there. */
  locate(path: readonly (string | number)[]): FileLocation;
}

export const NO_CALL_BLOCKS: CallBlocks = {
  values: {},
  locate: () => ({ file: '', line: 1, column: 1 }),
};

export function readCallBlocks(root: Node, at: (offset: number) => FileLocation): CallBlocks {
  const values: Record<string, unknown> = {};
  for (const key of CALL_KEYS) {
    const node = findNodeAtLocation(root, [key]);
    if (node) values[key] = getNodeValue(node);
  }
  return {
    values,
    locate: (path) => {
      for (let length = path.length; length > 0; length--) {
        const node = findNodeAtLocation(root, path.slice(0, length));
        if (node) return at(node.offset);
      }
      return at(root.offset);
    },
  };
}
