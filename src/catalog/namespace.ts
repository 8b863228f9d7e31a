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
 * The name part of a tool whose server is known. Only the prefix that repeats the server goes (`github.list` of the
 * server `github`); in `issues.list` of `github` the first part is not the namespace and is all that tells it apart.
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

/** Any name, made to fit the namespace grammar: lower case, accents folded, the rest "-". Never fails. */
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

/** Any tool name, made to fit the name grammar. What is lost here is kept by the hash over the raw name. */
export function fitName(name: string): string {
  if (isName(name)) return name;
  const fitted = foldAccents(name)
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    .replaceAll(/^[.-]+|[.-]+$/g, '');
  if (!/[A-Za-z0-9]/.test(fitted)) return 'tool';
  return (/^[A-Za-z_]/.test(fitted) ? fitted : `_${fitted}`).slice(0, MAX_NAME);
}

/**
 * A namespace of its own for every server. A server whose name already fits keeps it before any that had to be
 * fitted; the others follow by code point and get `-2`, `-3`. Does not depend on the order of the servers.
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
