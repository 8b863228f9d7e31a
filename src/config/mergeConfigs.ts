import { didYouMean, nearest } from '../text/nearest.ts';
import type { MergedConfig } from './configLayers.ts';
import type { Block, BlockValue, Scope } from './declaration/block.ts';
import { BLOCK_NAMES, BLOCKS, type BlockName, type Settings } from './declaration/document.ts';
import type { LoadedConfig } from './fileReader.ts';
import type { ConfigurationProblem } from './gatewayConfig.ts';

/** Merges files whose safety blocks `failClosed` has settled. */
export function mergeConfigs(layers: readonly LoadedConfig[]): MergedConfig {
  const last = layers.at(-1) as LoadedConfig;
  const servers = notOverridden(layers, (layer) => layer.servers);
  const ignored: ConfigurationProblem[] = [];
  const userServers = servers.filter(({ origin }) => origin === 'user').map(({ name }) => name);
  const settings = BLOCK_NAMES.map((name) => {
    const scopeOf = (layer: LoadedConfig): Scope => ({
      userServers,
      ignored: (path, message) =>
        ignored.push({ severity: 'warning', message, location: layer.locate([name, ...path]) }),
    });
    return [name, settingOf(name, layers, scopeOf)] as const;
  });
  const startup = layers.findLast(({ blocks }) => blocks.has('startup'));
  return {
    file: last.file,
    exists: layers.some(({ exists }) => exists),
    files: layers.map(({ origin, file, exists }) => ({ origin, file, exists })),
    servers,
    broken: notOverridden(layers, ({ broken }) => broken),
    envFiles: layers.flatMap(({ envFiles }) => envFiles),
    problems: [...layers.flatMap(({ problems }) => problems), ...ignored, ...unknownServers(layers)],
    settings: Object.freeze(Object.fromEntries(settings)) as unknown as Settings,
    startupAt: startup?.locate(['startup']) ?? { file: last.file, line: 1, column: 1 },
    inputs: Object.fromEntries(layers.map(({ origin, inputs }) => [origin, inputs])),
  };
}

/**
 * Warns of references to servers that no file has. The user's own file may name servers of other workspaces, and a
 * namespace may be that of a static catalog: these are mistakes only if they resemble a server.
 */
function unknownServers(layers: readonly LoadedConfig[]): ConfigurationProblem[] {
  const known = layers.flatMap(({ servers, broken }) => [...servers, ...broken].map(({ name }) => name));
  const namespaces = known.map((name) => name.toLowerCase().replaceAll(/[^a-z0-9_]+/g, '-'));
  return layers.flatMap(({ origin, references }) =>
    references.flatMap(({ kind, name, location }) => {
      const [names, given] =
        kind === 'server' ? [known, name] : [namespaces, name.replace(/^\w+::/, '').replace(/:.*/s, '')];
      if (names.includes(given)) return [];
      const isMistake = (kind === 'server' && origin !== 'user') || nearest(given, names) !== undefined;
      const message = `There is no server ${JSON.stringify(given.slice(0, 64))}; ${didYouMean(given, names, 'add it to "servers" or correct the name.')}`;
      return isMistake ? [{ severity: 'warning' as const, message, location }] : [];
    }),
  );
}

/** Returns the value of a block over all files. The block's scope rule joins a workspace's value with the user's. */
function settingOf(name: BlockName, layers: readonly LoadedConfig[], scopeOf: (layer: LoadedConfig) => Scope): unknown {
  const { defaultValue, combine }: Block<unknown> = BLOCKS[name];
  let own: BlockValue<unknown> | undefined;
  let value: unknown = defaultValue;
  for (const layer of layers) {
    const block = layer.blocks.get(name);
    if (!block) continue;
    value = layer.origin === 'workspace' && combine ? combine(own, block, scopeOf(layer)) : block.value;
    own = block;
  }
  return value;
}

/** Returns the entries that no later file overrides. An invalid override hides the earlier entry too. */
function notOverridden<T extends { name: string }>(
  layers: readonly LoadedConfig[],
  of: (layer: LoadedConfig) => readonly T[],
): T[] {
  return layers.flatMap((layer, index) => {
    const later = layers.slice(index + 1).flatMap(({ servers, broken }) => [...servers, ...broken]);
    const taken = new Set(later.map(({ name }) => name));
    return of(layer).filter(({ name }) => !taken.has(name));
  });
}
