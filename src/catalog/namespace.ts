import { compareCodePoints } from './codePointOrder.ts';
import { isName, isNamespace } from './toolId.ts';

const FALLBACK = 'mcp';
const MAX_NAMESPACE = 64;
const MAX_NAME = 128;

/**
 * Infers the namespace of a tool without a configured server from the separators in its name (G1.6). The result may
 * need fitting.
 */
export function inferNamespace(upstreamName: string): string {
  const dot = upstreamName.indexOf('.');
  if (dot > 0) return upstreamName.slice(0, dot);
  const slash = upstreamName.indexOf('/');
  if (slash > 0) return upstreamName.slice(0, slash);
  const pieces = upstreamName.split('_');
  return pieces.length >= 3 && pieces[0] ? pieces[0] : FALLBACK;
}

/**
 * Removes the namespace that the name repeats (G1.7): a dot or slash ends a prefix for certain, an underscore may be
 * part of the name.
 */
export function deriveName(upstreamName: string): string {
  for (const separator of ['.', '/']) {
    const at = upstreamName.indexOf(separator);
    if (at > 0 && at < upstreamName.length - 1) return upstreamName.slice(at + 1);
  }
  return upstreamName;
}

/**
 * Derives the name part of a tool on a known server (G1.7). Only a prefix that repeats the server is removed
 * (`github.list` of the server `github`). In `issues.list` of `github` the first part is no namespace, and the name
 * needs it.
 */
export function deriveNameOnServer(upstreamName: string, server: string, namespace: string): string {
  for (const prefix of [server, namespace]) {
    const separator = upstreamName[prefix.length];
    if ((separator === '.' || separator === '/') && upstreamName.startsWith(prefix)) {
      const rest = upstreamName.slice(prefix.length + 1);
      if (rest !== '') return rest;
    }
  }
  return upstreamName;
}

/** Fits any name to the namespace grammar: lower case, accents folded, the rest "-" (G1.5). Never fails. */
export function fitNamespace(serverName: string): string {
  if (isNamespace(serverName)) return serverName;
  const fitted = foldAccents(serverName)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^[-_]+|[-_]+$/g, '');
  if (fitted === '') return FALLBACK;
  const started = /^[a-z]/.test(fitted) ? fitted : `${FALLBACK}-${fitted}`;
  return started.slice(0, MAX_NAMESPACE).replace(/[-_]+$/, '');
}

/** Fits any tool name to the name grammar (G1.8). The hash covers the raw name, so nothing is confused. */
export function fitName(name: string): string {
  if (isName(name)) return name;
  const fitted = foldAccents(name)
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    .replaceAll(/^[.-]+|[.-]+$/g, '');
  if (!/[A-Za-z0-9]/.test(fitted)) return 'tool';
  return (/^[A-Za-z_]/.test(fitted) ? fitted : `_${fitted}`).slice(0, MAX_NAME);
}

/**
 * Assigns every server its own namespace (G1.5). A server with a name that already fits keeps it; fitted names follow
 * by code point and get `-2`, `-3`. The result does not depend on the order of the servers.
 */
export function assignNamespaces(servers: Iterable<string>): Map<string, string> {
  const names = [...new Set(servers)].sort(
    (a, b) => Number(isNamespace(b)) - Number(isNamespace(a)) || compareCodePoints(a, b),
  );
  const taken = new Set<string>();
  const namespaces = new Map<string, string>();
  for (const server of names) {
    const namespace = firstFree(fitNamespace(server), taken);
    taken.add(namespace);
    namespaces.set(server, namespace);
  }
  return namespaces;
}

function firstFree(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  for (let n = 2; ; n++) {
    const suffix = `-${n}`;
    const candidate = `${wanted.slice(0, MAX_NAMESPACE - suffix.length)}${suffix}`;
    if (!taken.has(candidate)) return candidate;
  }
}

function foldAccents(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}+/gu, '');
}
