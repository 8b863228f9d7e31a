import { skeleton } from '../text/lookAlikes.ts';
import { didYouMean, meant, nearest } from '../text/nearest.ts';
import { quoted } from '../text/porcelain.ts';
import { visibleText } from '../text/visibleText.ts';
import type { MergedConfig } from './configLayers.ts';
import type { Block, BlockValue, Scope } from './declaration/block.ts';
import { BLOCK_NAMES, BLOCKS, type BlockName, type Settings } from './declaration/document.ts';
import type { LoadedConfig } from './fileReader.ts';
import type { ConfigurationProblem } from './gatewayConfig.ts';

/** Merges files whose safety blocks `failClosed` has settled. */
export function mergeConfigs(all: readonly LoadedConfig[]): MergedConfig {
  const own = all.find(({ origin }) => origin === 'user');
  const layers = all.map((layer) => withoutTakenNames(layer, own));
  const last = layers.at(-1) as LoadedConfig;
  const servers = layers.flatMap((layer) => layer.servers);
  const ignored: ConfigurationProblem[] = [];
  const userServers = own ? [...own.servers, ...own.broken].map(({ name }) => name) : [];
  const settings = BLOCK_NAMES.map((name) => {
    const scopeOf = (layer: LoadedConfig): Scope => ({
      userServers,
      ignored: (path, message) =>
        ignored.push({ severity: 'warning', code: 'no_effect', message, location: layer.locate([name, ...path]) }),
    });
    return [name, settingOf(name, layers, scopeOf)] as const;
  });
  const startup = layers.findLast(({ blocks }) => blocks.has('startup'));
  return {
    file: last.file,
    exists: layers.some(({ exists }) => exists),
    files: layers.map(({ origin, file, exists }) => ({ origin, file, exists })),
    servers,
    broken: layers.flatMap(({ broken }) => broken),
    envFiles: layers.flatMap(({ envFiles }) => envFiles),
    problems: [...layers.flatMap(({ problems }) => problems), ...ignored, ...unknownServers(layers)],
    settings: Object.freeze(Object.fromEntries(settings)) as unknown as Settings,
    startupAt: startup?.locate(['startup']) ?? { file: last.file, line: 1, column: 1 },
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
    references.flatMap(({ kind, name, ...place }) => {
      const [names, given] =
        kind === 'server' ? [known, name] : [namespaces, name.replace(/^\w+::/, '').replace(/:.*/s, '')];
      if (names.includes(given)) return [];
      const isMistake = (kind === 'server' && origin !== 'user') || nearest(given, names) !== undefined;
      const message = `There is no server ${quoted(given, 64)}; ${didYouMean(given, names, 'add it to "servers" or correct the name.')}`;
      if (!isMistake) return [];
      const { meant: near } = meant(given, names);
      const whole = near && { meant: { written: name, instead: name.replace(given, () => near.instead) } };
      return [{ severity: 'warning' as const, code: 'unknown_server' as const, ...whole, message, ...place }];
    }),
  );
}

/** Returns the value of a block over all files. The block's scope rule joins a workspace's value with the user's. */
function settingOf(name: BlockName, layers: readonly LoadedConfig[], scopeOf: (layer: LoadedConfig) => Scope): unknown {
  const { defaultValue, combine, narrow }: Block<unknown> = BLOCKS[name];
  let own: BlockValue<unknown> | undefined;
  let value: unknown = defaultValue;
  for (const layer of layers) {
    const given = layer.blocks.get(name);
    if (!given) continue;
    const block = layer.origin === 'user' && narrow ? { ...given, value: narrow(given.value, scopeOf(layer)) } : given;
    value = layer.origin === 'workspace' && combine ? combine(own, block, scopeOf(layer)) : block.value;
    own = block;
  }
  return value;
}

/**
 * Returns a workspace's file without the entries that have the name of a server of the user, or one that looks like it:
 * a repository can neither replace nor disable it, nor pass for it.
 */
function withoutTakenNames(layer: LoadedConfig, own: LoadedConfig | undefined): LoadedConfig {
  if (layer.origin !== 'workspace' || !own) return layer;
  const taken = new Map([...own.servers, ...own.broken].map(({ name }) => [skeleton(name), name]));
  const isFree = ({ name }: { name: string }): boolean => !taken.has(skeleton(name));
  const clashes = [...layer.servers, ...layer.broken].filter((one) => !isFree(one));
  const problems = clashes.map(({ name, location }) => ({
    severity: 'warning' as const,
    code: 'no_effect' as const,
    message: `"servers.${visibleText(name)}" has no effect: your own waygate.json has the server "${taken.get(skeleton(name))}". Give it another name.`,
    location,
  }));
  return {
    ...layer,
    servers: layer.servers.filter(isFree),
    broken: layer.broken.filter(isFree),
    problems: [...layer.problems, ...problems],
  };
}
