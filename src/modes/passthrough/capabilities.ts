import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';

type Capabilities = Record<string, unknown>;

/** What may be sent in a session of this mode: the SDK refuses to send what was never declared. */
export const ALL_CAPABILITIES: Capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** What a client is told that it can do here: what the servers behind it say. */
export function capabilitiesOf(connections: readonly ServerConnection[], hasSeveralServers: boolean): Capabilities {
  const known = connections.filter(({ isKnown }) => isKnown);
  const [only] = known;
  // Of one that is not up yet nothing is known: lists are empty until it is.
  if (known.length < connections.length || !only) return ALL_CAPABILITIES;
  if (!hasSeveralServers) {
    // Tasks are run inside a call here: a client that began one itself would be refused.
    const { tasks: _tasks, ...own } = only.capabilities as Capabilities;
    return own.tools ? { ...own, tools: { ...(own.tools as object), listChanged: true } } : own;
  }
  const declared = (name: string): Capabilities[] =>
    known.flatMap(({ capabilities }) => (capabilities[name] ? [capabilities[name] as Capabilities] : []));
  const resources = declared('resources');
  return {
    tools: { listChanged: true },
    ...(resources.length > 0
      ? { resources: { listChanged: true, ...(resources.some((one) => one.subscribe) ? { subscribe: true } : {}) } }
      : {}),
    ...(declared('prompts').length > 0 ? { prompts: { listChanged: true } } : {}),
    ...(declared('completions').length > 0 ? { completions: {} } : {}),
    ...(declared('logging').length > 0 ? { logging: {} } : {}),
  };
}

/** The server's own words; where there are several, each under the prefix of its names. */
export function instructionsOf(
  connections: readonly ServerConnection[],
  hasSeveralServers: boolean,
  namespaceOf: (server: string) => string,
): string | undefined {
  const told = connections.flatMap(({ config, catalog }) =>
    catalog.instructions ? [{ server: config.name, words: catalog.instructions }] : [],
  );
  if (!hasSeveralServers) return told[0]?.words;
  if (told.length === 0) return undefined;
  return told.map(({ server, words }) => `# ${namespaceOf(server)}__*\n${words}`).join('\n\n');
}
