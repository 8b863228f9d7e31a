import type { Node } from 'jsonc-parser';
import { type BrowseConfig, DEFAULT_BROWSE } from './gatewayConfig.ts';
import { members, unknownKey } from './jsonNodes.ts';

/** The `browse` block: how `tool_browse` answers. A wrong value leaves the default and is told. */
const BROWSE_KEYS = ['topK', 'cacheStable', 'learning'];
const MAX_TOP_K = 50;

export interface Complaint {
  message: string;
  offset: number;
}

export function readBrowse(node: Node, complain: (complaint: Complaint) => void): BrowseConfig {
  if (node.type !== 'object') {
    complain({ message: 'it must be an object.', offset: node.offset });
    return DEFAULT_BROWSE;
  }
  let browse = DEFAULT_BROWSE;
  for (const [key, value] of members(node)) {
    if (key.value === 'topK') {
      const fits = Number.isInteger(value.value) && value.value >= 1 && value.value <= MAX_TOP_K;
      if (fits) browse = { ...browse, topK: value.value };
      else complain({ message: `"topK" must be a whole number from 1 to ${MAX_TOP_K}.`, offset: value.offset });
    } else if (key.value === 'cacheStable' || key.value === 'learning') {
      if (value.type === 'boolean') browse = { ...browse, [key.value]: value.value };
      else complain({ message: `"${key.value}" must be true or false.`, offset: value.offset });
    } else complain({ message: unknownKey(key.value, BROWSE_KEYS), offset: key.offset });
  }
  return browse;
}
