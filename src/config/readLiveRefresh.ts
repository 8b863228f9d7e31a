import type { Node } from 'jsonc-parser';
import { DEFAULT_LIVE_REFRESH, type LiveRefreshConfig } from './gatewayConfig.ts';
import { members, unknownKey } from './jsonNodes.ts';
import type { Complaint } from './readBrowse.ts';

/** The `liveRefresh` block: what becomes of a server's news that its tools have changed. */
const MAX_DEBOUNCE_SECONDS = 3_600;
const MAX_REFRESHES = 6_000;
const KEYS = ['enabled', 'debounceSeconds', 'maxRefreshesPerMinute'];

export function readLiveRefresh(
  node: Node,
  complain: (complaint: Complaint) => void,
  defaults: LiveRefreshConfig = DEFAULT_LIVE_REFRESH,
): LiveRefreshConfig {
  if (node.type !== 'object') {
    complain({ message: 'it must be an object.', offset: node.offset });
    return defaults;
  }
  let refresh = defaults;
  for (const [key, value] of members(node)) {
    const name = key.value as string;
    const wrong = wrongValue(name, value.value);
    if (!KEYS.includes(name)) complain({ message: unknownKey(name, KEYS), offset: key.offset });
    else if (wrong) complain({ message: `"${name}" must be ${wrong}.`, offset: value.offset });
    else refresh = { ...refresh, [name]: value.value };
  }
  return refresh;
}

function wrongValue(name: string, value: unknown): string | undefined {
  if (name === 'enabled') return typeof value === 'boolean' ? undefined : 'true or false';
  if (name === 'debounceSeconds') {
    const fits = typeof value === 'number' && value >= 0 && value <= MAX_DEBOUNCE_SECONDS;
    return fits ? undefined : `a number from 0 to ${MAX_DEBOUNCE_SECONDS}`;
  }
  const fits = Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_REFRESHES;
  return fits ? undefined : `a whole number from 1 to ${MAX_REFRESHES}`;
}
