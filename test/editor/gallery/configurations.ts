import { readFileSync, writeFileSync } from 'node:fs';
import type { TestWorkspace } from '../../support/workspace.ts';

interface Configuration {
  servers: Record<string, object>;
}

export function readConfiguration({ configFile }: TestWorkspace): Configuration {
  return JSON.parse(readFileSync(configFile, 'utf8')) as Configuration;
}

export function writeConfiguration({ configFile }: TestWorkspace, configuration: object): void {
  writeFileSync(configFile, `${JSON.stringify(configuration, null, 2)}\n`);
}

/** Writes a server into the configuration, or removes it. */
export function setServer(workspace: TestWorkspace, name: string, entry: object | undefined): void {
  const configuration = readConfiguration(workspace);
  if (entry) configuration.servers[name] = entry;
  else delete configuration.servers[name];
  writeConfiguration(workspace, configuration);
}
