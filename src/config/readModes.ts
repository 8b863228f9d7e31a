import { readFileSync } from 'node:fs';
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import { DEFAULT_MODE, isMode, MODES, type Mode } from '../link/mode.ts';
import { DEFAULT_PASSTHROUGH, type PassthroughConfig } from './gatewayConfig.ts';
import { members, unknownKey } from './jsonNodes.ts';
import type { Complaint } from './readBrowse.ts';

/** The `mode` key: how clients see the servers. A session keeps the mode that it has begun with. */
export function readMode(node: Node, complain: (complaint: Complaint) => void): Mode {
  if (isMode(node.value)) return node.value;
  complain({ message: `"mode" must be ${MODES.map((mode) => `"${mode}"`).join(', ')}.`, offset: node.offset });
  return DEFAULT_MODE;
}

const PASSTHROUGH_KEYS = ['firewall'];

/** The `passthrough` block: what is done to what passes through. */
export function readPassthrough(node: Node, complain: (complaint: Complaint) => void): PassthroughConfig {
  if (node.type !== 'object') {
    complain({ message: '"passthrough" must be an object.', offset: node.offset });
    return DEFAULT_PASSTHROUGH;
  }
  let passthrough = DEFAULT_PASSTHROUGH;
  for (const [key, value] of members(node)) {
    if (key.value !== 'firewall') {
      complain({ message: `"passthrough": ${unknownKey(key.value, PASSTHROUGH_KEYS)}`, offset: key.offset });
    } else if (value.type === 'boolean') passthrough = { firewall: value.value };
    else complain({ message: '"passthrough": "firewall" must be true or false.', offset: value.offset });
  }
  return passthrough;
}

/**
 * The mode that a file asks for, for the host: it answers a client before there is a worker, and reads nothing else of
 * the file. What is wrong in it the worker tells.
 */
export function configuredMode(file: string): Mode | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  if (!text.includes('"mode"')) return undefined;
  try {
    const root = parseTree(text.replace(/^\ufeff/, ''), [], { allowTrailingComma: true });
    const mode: unknown = root?.type === 'object' ? findNodeAtLocation(root, ['mode'])?.value : undefined;
    return isMode(mode) ? mode : undefined;
  } catch {
    // It nests too deep to be a configuration.
    return undefined;
  }
}
