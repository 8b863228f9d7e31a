import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { type ConnectionServices, ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import type { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';
import { atEnd } from './lifetime.ts';

/** Configuration of a test's server, with defaults. */
export function stdioConfig(given: Partial<StdioServerConfig>): StdioServerConfig {
  return {
    name: 'one',
    type: 'stdio',
    command: process.execPath,
    args: [],
    env: {},
    cwd: process.cwd(),
    disabled: false,
    keepAlive: false,
    location: { file: 'waygate.json', line: 1, column: 1 },
    ...given,
  };
}

/** Connection to a real server, with its states in order, its number of list changes, and its log. */
export function connectStdio(
  given: Partial<StdioServerConfig>,
  journal: ChildJournal,
  services: Partial<ConnectionServices> = {},
  scrubSecrets: (text: string) => string = (text) => text,
) {
  const states: string[] = [];
  const log: string[] = [];
  let changes = 0;
  const connection: ServerConnection = new ServerConnection(
    stdioConfig(given),
    {
      openLink: async (config, events) => new StdioLink(config as StdioServerConfig, journal, events),
      ...services,
    },
    {
      onChange: () => {
        changes += 1;
        if (states.at(-1) !== connection.state) states.push(connection.state);
      },
      log: (line) => void log.push(line),
      scrubSecrets,
    },
  );
  atEnd(() => connection.stop());
  return { connection, states, log, changes: () => changes };
}
