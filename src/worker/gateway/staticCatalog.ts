import { fitNamespace, inferNamespace } from '../../catalog/namespace.ts';
import { ingestPrompt, ingestResource } from '../../catalog/primitives/primitiveIngest.ts';
import { type CatalogFile, CatalogFileError, readCatalogFile } from '../../config/catalogFile.ts';
import type { LoadedConfig } from '../../config/fileReader.ts';
import type { StaticItem, StaticListing } from '../../config/gatewayConfig.ts';
import { emptyConfig } from '../../config/loadConfig.ts';
import type { GatewayOptions } from './gateway.ts';

/**
 * Reads a file in place of a workspace's configuration (`waygate serve --catalog`). No server has a name there, so each
 * item determines its namespace: a tool's own, else the one that its name or URI implies (G1.6, G10.4). Throws for a
 * file that cannot be served at all; a file that breaks later keeps its last good content.
 */
export function staticCatalog(file: string): Required<Pick<GatewayOptions, 'load' | 'configFile'>> {
  let first: LoadedConfig | undefined = configurationOf(file, readCatalogFile(file));
  return {
    configFile: file,
    load: () => {
      const loaded = first ?? reload(file);
      first = undefined;
      return loaded;
    },
  };
}

function reload(file: string): LoadedConfig {
  try {
    return configurationOf(file, readCatalogFile(file));
  } catch (error) {
    if (!(error instanceof CatalogFileError)) throw error;
    const { message, location } = error;
    return {
      ...configurationOf(file, EMPTY),
      usable: false,
      problems: [{ severity: 'error', code: 'file', message, location }],
    };
  }
}

const EMPTY: CatalogFile = { tools: [], resources: [], prompts: [] };

function configurationOf(file: string, catalog: CatalogFile): LoadedConfig {
  const listings = new Map<string, { tools: StaticItem[]; resources: StaticItem[]; prompts: StaticItem[] }>();
  const listingOf = (namespace: string) => {
    const fitted = fitNamespace(namespace);
    const listing = listings.get(fitted) ?? { tools: [], resources: [], prompts: [] };
    listings.set(fitted, listing);
    return listing;
  };
  for (const { namespace, ...tool } of catalog.tools) {
    listingOf(namespace ?? inferNamespace(String(tool.listed.name))).tools.push(tool);
  }
  for (const resource of catalog.resources)
    listingOf(ingestResource(resource.listed).namespace).resources.push(resource);
  for (const prompt of catalog.prompts) listingOf(ingestPrompt(prompt.listed).namespace).prompts.push(prompt);
  return {
    ...emptyConfig({ origin: 'given', file }),
    exists: true,
    usable: true,
    servers: [...listings].map(([name, listing]: [string, StaticListing]) => ({
      type: 'static',
      origin: 'given',
      name,
      // A static server is ready at once and uses no process.
      keepAlive: true,
      disabled: false,
      location: { file, line: 1, column: 1 },
      listing,
    })),
  };
}
