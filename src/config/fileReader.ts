import { homedir } from 'node:os';
import { findNodeAtLocation, type Node } from 'jsonc-parser';
import { isPlainName } from '../text/lookAlikes.ts';
import { nearest } from '../text/nearest.ts';
import { visibleText } from '../text/visibleText.ts';
import type { BlockValue } from './declaration/block.ts';
import { POLICY_PRESET, PRESETS, type Preset } from './declaration/callBlocks.ts';
import { distinctMembers, joined, unknownKey } from './declaration/collections.ts';
import { BLOCK_NAMES, BLOCKS, type BlockName, TOP_LEVEL_KEYS } from './declaration/document.ts';
import type { Reader } from './declaration/field.ts';
import { INPUTS, type InputConfig } from './declaration/gatewayBlocks.ts';
import type { BrokenServer, ConfigurationProblem, FileLocation, ServerConfig } from './gatewayConfig.ts';
import { members } from './jsonNodes.ts';
import { readServer } from './readServer.ts';
import type { ConfigPlace } from './state/configPlaces.ts';

/** Top-level keys that fail closed: an error in one makes all of it unreadable. */
export type GuardedKey = BlockName | 'policyPreset' | 'servers';

/** Content of one file. */
export interface LoadedConfig extends ConfigPlace {
  exists: boolean;
  text?: string;
  /** False if nothing of the file can be read. */
  usable: boolean;
  /** True for something that cannot hold rules, such as a device or a folder in place of the file. */
  ruleless?: boolean;
  servers: readonly ServerConfig[];
  broken: readonly BrokenServer[];
  problems: readonly ConfigurationProblem[];
  /** Blocks that the file sets. Parts of a block that cannot be read have their defaults. */
  blocks: ReadonlyMap<BlockName, BlockValue<unknown>>;
  /** Guarded keys that cannot be read, with the first error and the key as the file spells it. */
  unreadable: ReadonlyMap<GuardedKey, { problem: ConfigurationProblem; spelled: string }>;
  /** Source texts of the values, by top-level key. */
  sources: ReadonlyMap<string, string>;
  /** Returns the location of a path, or of its nearest ancestor in the file. */
  locate(path: readonly (string | number)[]): FileLocation;
}

const NAME_FORM =
  'needs another name: at most 64 letters and digits of one script, and within the name " ", ".", "_" and "-".';

/** Far more than a model can use. Each server costs a process, memory and a line in every report. */
const MAX_SERVERS = 256;

/** Reads the top-level keys of one file independently: an error in one does not affect another. */
export class FileReader {
  readonly #root: Node;
  readonly #place: ConfigPlace;
  readonly #at: (offset: number) => FileLocation;
  readonly #surroundings: { workspace: string; env: NodeJS.ProcessEnv };
  readonly #problems: ConfigurationProblem[] = [];
  readonly #unreadable = new Map<GuardedKey, { problem: ConfigurationProblem; spelled: string }>();

  constructor(
    root: Node,
    place: ConfigPlace,
    at: (offset: number) => FileLocation,
    surroundings: { workspace: string; env: NodeJS.ProcessEnv },
  ) {
    this.#root = root;
    this.#place = place;
    this.#at = at;
    this.#surroundings = surroundings;
  }

  read(text: string): LoadedConfig {
    const fields = this.#fields();
    const inputs = this.#inputs(fields.get('inputs'));
    const { servers, broken } = this.#servers(fields.get('servers'), inputs);
    const blocks = new Map<BlockName, BlockValue<unknown>>(this.#preset(fields.get('policyPreset')));
    for (const name of BLOCK_NAMES) {
      const node = fields.get(name);
      const value = node && BLOCKS[name].field.read(node, name, this.#guarding(name));
      if (value !== undefined) blocks.set(name, { value, keys: new Set(keysOf(node as Node)) });
    }
    return {
      ...this.#place,
      exists: true,
      usable: true,
      servers,
      broken,
      blocks,
      problems: this.#problems.toSorted(({ location: a }, { location: b }) => a.line - b.line || a.column - b.column),
      unreadable: this.#unreadable,
      sources: new Map([...fields].map(([key, node]) => [key, text.slice(node.offset, node.offset + node.length)])),
      locate: (path) => this.#locate(path),
    };
  }

  #report(message: string, node: Node, severity: ConfigurationProblem['severity'] = 'error'): ConfigurationProblem {
    const location = this.#at(node.offset);
    const { line, column: endColumn } = this.#at(node.offset + node.length);
    const problem = { severity, message, location, ...(line === location.line && { endColumn }) };
    this.#problems.push(problem);
    return problem;
  }

  /** Returns a reader that reports errors and marks a guarded key with an error as unreadable. */
  #guarding(key: string, spelled = key): Reader {
    return {
      report: (message, node) => {
        const problem = this.#report(message, node);
        if (isGuarded(key) && !this.#unreadable.has(key)) this.#unreadable.set(key, { problem, spelled });
      },
    };
  }

  /**
   * Returns the values by key. A misspelled safety key may have held anything, so the key that it resembles counts as
   * unreadable.
   */
  #fields(): Map<string, Node> {
    const twice = (message: string, node: Node): void => this.#guarding(node.value).report(message, node);
    const all = distinctMembers(this.#root, '', { report: twice });
    const written = new Set(all.map(([key]) => key.value as string));
    for (const [outer, value] of all) {
      for (const [key, inner] of value.type === 'object' ? members(value) : []) {
        const name = key.value as string;
        const isServer = ['command', 'url'].some((one) => findNodeAtLocation(inner, [one]));
        if (name === 'servers' || !isGuarded(name) || written.has(name) || isServer) continue;
        this.#guarding(name).report(
          `"${joined(outer.value, name)}" has no effect here; put "${name}" at the top level.`,
          key,
        );
      }
    }
    return new Map(
      all.map(([key, value]) => {
        const name = key.value as string;
        if (!TOP_LEVEL_KEYS.includes(name)) {
          const alike = TOP_LEVEL_KEYS.filter((known) => sharesStem(name, known));
          const meant = nearest(name, TOP_LEVEL_KEYS) ?? alike.find((known) => !written.has(known)) ?? alike[0];
          const message = unknownKey(joined('', name), name, TOP_LEVEL_KEYS);
          this.#guarding(meant ?? '', name).report(message, key);
        }
        return [name, value];
      }),
    );
  }

  #inputs(node: Node | undefined): readonly InputConfig[] {
    const seen = new Set<string>();
    let isSound = true;
    const report = (message: string, at: Node): void => {
      isSound = false;
      this.#report(message, at);
    };
    const read = (node && INPUTS.read(node, 'inputs', { report })) ?? [];
    // After an error any of them may have been meant as a secret.
    const all = isSound ? read : read.map((input) => ({ ...input, password: true }));
    return all.filter(({ id, type, options }) => {
      const needsOptions = type === 'pickString' && options.length === 0;
      if (needsOptions) report(`The input "${id}" needs "options" to pick from; add them.`, node as Node);
      if (seen.has(id)) report(`The input "${id}" is written twice; remove one.`, node as Node);
      return !needsOptions && !seen.has(id) && seen.add(id);
    });
  }

  #preset(node: Node | undefined): [BlockName, BlockValue<unknown>][] {
    const name = node && POLICY_PRESET.read(node, 'policyPreset', this.#guarding('policyPreset'));
    if (name === undefined) return [];
    const preset: Preset = PRESETS[name];
    return (Object.entries(preset) as [BlockName, unknown][]).map(([block, value]) => [
      block,
      { value, keys: new Set() },
    ]);
  }

  #servers(
    node: Node | undefined,
    inputs: readonly InputConfig[],
  ): { servers: readonly ServerConfig[]; broken: readonly BrokenServer[] } {
    const servers: ServerConfig[] = [];
    const broken: BrokenServer[] = [];
    if (node && node.type !== 'object') {
      this.#guarding('servers').report('"servers" must be an object of servers by name.', node);
      return { servers, broken };
    }
    const { origin } = this.#place;
    const report = (message: string, at: Node): void => void this.#report(message, at);
    const all = node ? members(node).map(([key]) => key.value as string) : [];
    if (node && all.length > MAX_SERVERS) {
      const message = `"servers" has ${all.length} servers, and ${MAX_SERVERS} is the limit; remove some.`;
      this.#guarding('servers').report(message, node);
      return { servers, broken };
    }
    for (const [key, value] of node ? distinctMembers(node, 'servers', { report }) : []) {
      const name = key.value as string;
      if (all.indexOf(name) !== all.lastIndexOf(name)) {
        broken.push({
          name,
          reason: `"${joined('servers', name)}" is written twice; remove one.`,
          location: this.#at(key.offset),
        });
        continue;
      }
      if (name.trim() === '') {
        report('"servers" has an entry without a name; name it.', key);
        continue;
      }
      if (origin === 'workspace' && !isPlainName(name)) {
        const message = `"${visibleText(joined('servers', name))}" ${NAME_FORM}`;
        report(message, key);
        broken.push({ name: visibleText(name), reason: message, location: this.#at(key.offset) });
        continue;
      }
      let reason: ConfigurationProblem | undefined;
      const server = readServer(name, value, {
        ...this.#surroundings,
        // Servers of the user's own file start without a question, so nothing in a repository may influence them.
        baseFolder: origin === 'user' ? homedir() : this.#surroundings.workspace,
        origin,
        inputs: new Map(inputs.map((input) => [input.id, input])),
        location: this.#at(key.offset),
        warn: (message, at) => void this.#report(message, at, 'warning'),
        report: (message, at) => {
          const problem = this.#report(message, at);
          reason ??= problem;
        },
      });
      if (server) servers.push(server);
      else if (reason) broken.push({ name, reason: reason.message, location: reason.location });
    }
    return { servers, broken };
  }

  #locate(path: readonly (string | number)[]): FileLocation {
    for (let length = path.length; length > 0; length--) {
      const node = findNodeAtLocation(this.#root, path.slice(0, length));
      if (node) return this.#at(node.offset);
    }
    return this.#at(this.#root.offset);
  }
}

const STEM = 5;

/**
 * Whether a key such as `policies` or `policyRules` means `policy`, although its ending differs too much for a typo.
 */
function sharesStem(name: string, known: string): boolean {
  return known.length >= STEM && name.toLowerCase().startsWith(known.slice(0, STEM).toLowerCase());
}

function isGuarded(key: string): key is GuardedKey {
  if (key === 'servers' || key === 'policyPreset') return true;
  return (BLOCK_NAMES as readonly string[]).includes(key) && BLOCKS[key as BlockName].safety !== undefined;
}

function keysOf(node: Node): string[] {
  return node.type === 'object' ? members(node).map(([key]) => key.value as string) : [];
}
