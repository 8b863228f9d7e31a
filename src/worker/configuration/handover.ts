import { createHash } from 'node:crypto';
import type { KeptTexts } from '../../config/configLayers.ts';
import type { ServerConfig } from '../../config/gatewayConfig.ts';

/** What a worker tells the one that takes over from it, beside what is written. */
export interface Handover {
  /** What is in force of files that cannot be used. */
  kept: KeptTexts;
  /** What its servers are, by their names. */
  servers: Readonly<Record<string, string>>;
}

export const handoverOf = (kept: KeptTexts, servers: readonly ServerConfig[]): Handover => ({
  kept,
  servers: Object.fromEntries(servers.map((config) => [config.name, whatRuns(config)])),
});

/** One that is there already and configured otherwise: whoever changes a server wants to see what comes of it. */
export function isChanged({ servers }: Handover, config: ServerConfig): boolean {
  const before = Object.hasOwn(servers, config.name) ? servers[config.name] : undefined;
  return before !== undefined && before !== whatRuns(config);
}

/** It comes through a pipe: there may be secrets in it. */
export async function readHandover(input: NodeJS.ReadableStream): Promise<Handover> {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) text += chunk;
  return JSON.parse(text) as Handover;
}

/** Where a server stands in the file, and what is shown of it, may change without the server being another. */
function whatRuns({ location: _location, tools: _tools, required: _required, ...rest }: ServerConfig): string {
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex');
}
