import type { Node } from 'jsonc-parser';
import { type ArtifactConfig, DEFAULT_ARTIFACTS } from './gatewayConfig.ts';
import { members, unknownKey } from './jsonNodes.ts';
import type { Complaint } from './readBrowse.ts';
import { spelledNumber, spelledTruth } from './spelledValues.ts';

/** The `artifacts` block: what is kept of results, and what of them is shown. A wrong value leaves the default. */
const WHOLE_NUMBERS: Readonly<Record<string, readonly [low: number, high: number]>> = {
  ttlSeconds: [1, 366 * 86_400],
  maxBytes: [1, 2 ** 40],
  maxArtifacts: [1, 1_000_000],
  shownChars: [200, 7_000],
};
const MASKS = ['errors', 'always', 'never'];
const KEYS = [...Object.keys(WHOLE_NUMBERS), 'maskSecrets', 'maskOnDisk'];

export function readArtifacts(node: Node, complain: (complaint: Complaint) => void): ArtifactConfig {
  if (node.type !== 'object') {
    complain({ message: 'it must be an object.', offset: node.offset });
    return DEFAULT_ARTIFACTS;
  }
  let artifacts = DEFAULT_ARTIFACTS;
  for (const [key, value] of members(node)) {
    const name = key.value as string;
    const read = KEYS.includes(name) ? readValue(name, value.value) : undefined;
    if (!read) complain({ message: unknownKey(name, KEYS), offset: key.offset });
    else if ('wrong' in read) complain({ message: `"${name}" must be ${read.wrong}.`, offset: value.offset });
    else artifacts = { ...artifacts, [name]: read.value };
  }
  return artifacts;
}

function readValue(name: string, given: unknown): { value: unknown } | { wrong: string } {
  const range = WHOLE_NUMBERS[name];
  if (range) {
    const value = spelledNumber(given);
    const fits = value !== undefined && Number.isInteger(value) && value >= range[0] && value <= range[1];
    return fits ? { value } : { wrong: `a whole number from ${range[0]} to ${range[1]}` };
  }
  if (name === 'maskSecrets') {
    const fits = MASKS.includes(given as string);
    return fits ? { value: given } : { wrong: MASKS.map((mask) => `"${mask}"`).join(' or ') };
  }
  const value = spelledTruth(given);
  return value === undefined ? { wrong: 'true or false' } : { value };
}
