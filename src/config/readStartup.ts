import type { Node } from 'jsonc-parser';
import { DEFAULT_STARTUP, type StartupConfig } from './gatewayConfig.ts';
import { members, unknownKey } from './jsonNodes.ts';
import type { Complaint } from './readBrowse.ts';
import { spelledNumber, spelledTruth } from './spelledValues.ts';

/** The `startup` block: what must be there before the gateway answers. A wrong value leaves the default. */
const MODES = ['degraded', 'strict'];
const MAX_TIMEOUT_SECONDS = 3_600;
const MAX_SERVERS = 10_000;
const KEYS = ['mode', 'timeoutSeconds', 'minHealthyServers', 'failOnEmptyCatalog'];

export function readStartup(
  node: Node,
  complain: (complaint: Complaint) => void,
  defaults: StartupConfig = DEFAULT_STARTUP,
): StartupConfig {
  if (node.type !== 'object') {
    complain({ message: 'it must be an object.', offset: node.offset });
    return defaults;
  }
  let startup = defaults;
  for (const [key, value] of members(node)) {
    const name = key.value as string;
    const read = KEYS.includes(name) ? readValue(name, value.value) : undefined;
    if (!read) complain({ message: unknownKey(name, KEYS), offset: key.offset });
    else if ('wrong' in read) complain({ message: `"${name}" must be ${read.wrong}.`, offset: value.offset });
    else startup = { ...startup, [name]: read.value };
  }
  return startup;
}

function readValue(name: string, given: unknown): { value: unknown } | { wrong: string } {
  if (name === 'mode') {
    return MODES.includes(given as string) ? { value: given } : { wrong: '"degraded" or "strict"' };
  }
  if (name === 'failOnEmptyCatalog') {
    const value = spelledTruth(given);
    return value === undefined ? { wrong: 'true or false' } : { value };
  }
  const value = spelledNumber(given);
  if (name === 'timeoutSeconds') {
    const fits = value !== undefined && value > 0 && value <= MAX_TIMEOUT_SECONDS;
    return fits ? { value } : { wrong: `a number above 0, at most ${MAX_TIMEOUT_SECONDS}` };
  }
  const fits = value !== undefined && Number.isInteger(value) && value >= 0 && value <= MAX_SERVERS;
  return fits ? { value } : { wrong: `a whole number from 0 to ${MAX_SERVERS}` };
}
