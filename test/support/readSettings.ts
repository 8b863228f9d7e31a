import { parseTree } from 'jsonc-parser';
import { failClosed, type MergedConfig } from '../../src/config/configLayers.ts';
import type { Settings } from '../../src/config/declaration/document.ts';
import type { Field } from '../../src/config/declaration/field.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { mergeConfigs } from '../../src/config/mergeConfigs.ts';

/** Reads a value as in waygate.json; throws the first error. */
export function readField<T>(field: Field<T>, value: unknown, path = 'it'): T {
  const tree = parseTree(JSON.stringify(value));
  if (!tree) throw new Error('There is no value.');
  const report = (message: string): void => {
    throw new Error(message);
  };
  return field.read(tree, path, { report }) as T;
}

/** Merges a user's and a workspace's file, given as values or texts. */
export function joinedFiles(user: object | string, workspace: object | string): MergedConfig {
  const layers = ([user, workspace] as const).map((content, index) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const origin = index === 0 ? 'user' : 'workspace';
    return failClosed(parseConfig(text, `/${origin}.json`, '/w', {}, origin));
  });
  return mergeConfigs(layers);
}

/** Reads the settings of one explicitly given file; throws the first error. */
export function settingsOf(content: object): Settings {
  const { problems, settings } = mergeConfigs([parseConfig(JSON.stringify(content), '/w.json', '/w', {}, 'given')]);
  const error = problems.find(({ severity }) => severity === 'error');
  if (error) throw new Error(error.message);
  return settings;
}
