import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';

type Capabilities = Record<string, unknown>;

/** Everything that may be sent in a session of this mode: the SDK refuses messages of undeclared capabilities. */
export const ALL_CAPABILITIES: Capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** Returns the capabilities that a client sees: those that the servers declare. */
export function capabilitiesOf(connections: readonly ServerConnection[], hasSeveralServers: boolean): Capabilities {
  const known = connections.filter(({ isKnown }) => isKnown);
  const [only] = known;
  // The capabilities of a server that has not started are unknown; its lists are empty until then.
  if (known.length < connections.length || !only) return ALL_CAPABILITIES;
  if (!hasSeveralServers) {
    // Waygate runs tasks inside a call, and would refuse a client that began a task itself.
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

/** Returns the server's own instructions. With several servers, each part has the prefix of the server's names. */
export function instructionsOf(
  connections: readonly ServerConnection[],
  hasSeveralServers: boolean,
  namespaceOf: (server: string) => string,
): string | undefined {
  const instructions = connections.flatMap(({ config, catalog }) =>
    catalog.instructions ? [{ server: config.name, text: catalog.instructions }] : [],
  );
  if (!hasSeveralServers) return instructions[0]?.text;
  if (instructions.length === 0) return undefined;
  return instructions.map(({ server, text }) => `# ${namespaceOf(server)}__*\n${text}`).join('\n\n');
}
