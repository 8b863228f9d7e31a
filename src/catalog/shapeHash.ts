import { hash } from 'node:crypto';
import { isRecord } from '../lib/isRecord.ts';
import { canonicalJson, canonicalString } from './canonicalJson.ts';
import { compareCodePoints } from './codePointOrder.ts';

/** Reduces an input schema to its top-level property names and required names, which identify the tool (G1.11). */
export function canonicalShape(inputSchema: unknown): string {
  const schema = isRecord(inputSchema) ? inputSchema : {};
  const properties = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name): name is string => typeof name === 'string')
    : [];
  return `{"properties":${sortedNames(properties)},"required":${sortedNames(required)}}`;
}

/** Identity of a tool without a declared version. The hash covers the raw name (G1.10). */
export function hash8(upstreamName: string, inputSchema: unknown): string {
  return sha256(`${upstreamName}\n${canonicalShape(inputSchema)}`).slice(0, 8);
}

/** Hashes a resource by its URI. The domain prefix keeps the hash spaces of the kinds apart (G10.2). */
export function resourceHash8(uri: string): string {
  return sha256(`resource\n${uri}`).slice(0, 8);
}

/** Hashes a prompt by its name and the set of its argument names (G10.2). */
export function promptHash8(name: string, argumentNames: readonly string[]): string {
  return sha256(`prompt\n${name}\n${sortedNames([...argumentNames])}`).slice(0, 8);
}

const pins = new WeakMap<object, string>();

/**
 * Pin of a listed item (G1.14): changes whenever anything changes that a model can see, and with nothing else. `hash8`
 * cannot serve here, since it covers property names only. The order of keys does not count, because some servers
 * shuffle it; white space does. `_meta` is for programs, and no model sees it.
 */
export function pinOf(raw: unknown): string {
  if (raw === null || typeof raw !== 'object') return sha256(canonicalJson(raw));
  let pin = pins.get(raw);
  if (pin === undefined) {
    const { _meta, ...visible } = raw as Readonly<Record<string, unknown>>;
    pin = sha256(canonicalJson(visible));
    pins.set(raw, pin);
  }
  return pin;
}

export function sha256(text: string | Uint8Array): string {
  return hash('sha256', text, 'hex');
}

function sortedNames(names: string[]): string {
  return `[${names.sort(compareCodePoints).map(canonicalString).join(',')}]`;
}
