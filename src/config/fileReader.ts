import { homedir } from 'node:os';
import { findNodeAtLocation, type Node } from 'jsonc-parser';
import { isPlainName } from '../text/lookAlikes.ts';
import { visibleText } from '../text/visibleText.ts';
import type { BlockValue } from './declaration/block.ts';
import { POLICY_PRESET, PRESETS, type Preset } from './declaration/callBlocks.ts';
import { distinctMembers, joined, unknownKey } from './declaration/collections.ts';
import { BLOCK_NAMES, BLOCKS, type BlockName, SCHEMA_REFERENCE, TOP_LEVEL_KEYS } from './declaration/document.ts';
import type { Reader, ServerReference } from './declaration/field.ts';
import { INPUTS, type InputConfig } from './declaration/gatewayBlocks.ts';
import type { BrokenServer, ConfigurationProblem, FileLocation, ProblemKind, ServerConfig } from './gatewayConfig.ts';
import { members } from './jsonNodes.ts';
import { type WrittenEntry, writtenEntry } from './keptEntries.ts';
import { readServer } from './readServer.ts';
import type { ConfigPlace } from './state/configPlaces.ts';
import { type GuardedKey, isGuarded, meaningsOf, misplacedKeys } from './strayKeys.ts';

type Place = Pick<ConfigurationProblem, 'location' | 'endColumn'>;

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
  /** Entries of `servers` with a name of their own. */
  entries: ReadonlyMap<string, WrittenEntry>;
  /** Files that `envFile` names, whether or not they can be read. */
  envFiles: readonly string[];
  /** Blocks that the file sets. Parts of a block that cannot be read have their defaults. */
  blocks: ReadonlyMap<BlockName, BlockValue<unknown>>;
  /** Guarded keys that cannot be read, with the first error. */
  unreadable: ReadonlyMap<GuardedKey, ConfigurationProblem>;
  /** References to servers, in blocks that do not define them. */
  references: readonly ({ kind: ServerReference; name: string } & Place)[];
  /** Source texts of the values, by top-level key, without unknown keys and those with a misplaced key in them. */
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
  /** Problems of unknown and misplaced keys, by the offset of the key: the reader of the block reports them again. */
  readonly #strays = new Map<number, ConfigurationProblem>();
  /** Problems by place and kind: several readers may meet one. */
  readonly #reported = new Map<string, ConfigurationProblem>();
  readonly #unreadable = new Map<GuardedKey, ConfigurationProblem>();
  readonly #references: LoadedConfig['references'][number][] = [];
  readonly #withoutSource = new Set<string>();

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
    const reference = fields.get('$schema');
    if (reference) SCHEMA_REFERENCE.read(reference, '$schema', this.#guarding('$schema'));
    const inputs = this.#inputs(fields.get('inputs'));
    const { servers, broken, entries, envFiles } = this.#servers(fields.get('servers'), inputs, text);
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
      entries,
      envFiles,
      blocks,
      problems: this.#problems.toSorted(({ location: a }, { location: b }) => a.line - b.line || a.column - b.column),
      unreadable: this.#unreadable,
      references: this.#references,
      sources: new Map(
        [...fields]
          .filter(([key]) => !this.#withoutSource.has(key))
          .map(([key, node]) => [key, text.slice(node.offset, node.offset + node.length)]),
      ),
      locate: (path) => this.#locate(path),
    };
  }

  #report(
    message: string,
    node: Node,
    kind: ProblemKind = { code: 'wrong_value' },
    severity: ConfigurationProblem['severity'] = 'error',
  ): ConfigurationProblem {
    const key = `${node.offset} ${kind.code}`;
    const known = this.#strays.get(node.offset) ?? this.#reported.get(key);
    if (known) return known;
    const problem = { severity, ...kind, message, ...this.#placeOf(node) };
    this.#problems.push(problem);
    this.#reported.set(key, problem);
    return problem;
  }

  /** A mark under the whole of a long object would hide the others in it. */
  #placeOf(node: Node): Place {
    const location = this.#at(node.offset);
    const { line, column } = this.#at(node.offset + node.length);
    return { location, endColumn: line === location.line ? column : location.column + 1 };
  }

  /** Returns a reader that reports errors and marks a guarded key with an error as unreadable. */
  #guarding(key: string): Reader {
    return {
      report: (message, node, kind) => this.#close(isGuarded(key) ? [key] : [], this.#report(message, node, kind)),
      refers: (kind, name, node) => this.#references.push({ kind, name, ...this.#placeOf(node) }),
    };
  }

  #close(keys: readonly GuardedKey[], problem: ConfigurationProblem): void {
    for (const key of keys) if (!this.#unreadable.has(key)) this.#unreadable.set(key, problem);
  }

  /** Returns the values by key. A misspelled or misplaced safety key makes the key that it may stand for unreadable. */
  #fields(): Map<string, Node> {
    const twice: Reader['report'] = (message, node, kind) => this.#guarding(node.value).report(message, node, kind);
    const all = distinctMembers(this.#root, '', { report: twice });
    const written = new Set(all.map(([key]) => key.value as string));
    for (const [key, value] of all) {
      const outer = key.value as string;
      if (!TOP_LEVEL_KEYS.includes(outer)) this.#stray(outer, strayReport(key), meaningsOf(outer));
      for (const [inner, owner] of outer === 'servers' ? serversAmiss(value) : misplacedKeys(outer, value)) {
        if (inner.value === owner && written.has(owner)) continue;
        const place = inner.value === owner ? `put "${owner}" at the top level` : `it belongs into "${owner}"`;
        const message = `"${joined(joined('', outer), inner.value)}" has no effect here; ${place}.`;
        this.#stray(outer, [message, inner, { code: 'misplaced_key' }], [owner]);
      }
    }
    return new Map(all.map(([key, value]) => [key.value as string, value]));
  }

  #stray(outer: string, report: ReturnType<typeof strayReport>, meanings: readonly GuardedKey[]): void {
    const [, key] = report;
    const problem = this.#report(...report);
    this.#strays.set(key.offset, problem);
    if (outer !== 'servers') this.#withoutSource.add(outer);
    this.#close(meanings, problem);
  }

  #inputs(node: Node | undefined): readonly InputConfig[] {
    let isSound = true;
    const report: Reader['report'] = (message, at, kind) => {
      isSound = false;
      this.#report(message, at, kind);
    };
    const read = (node && INPUTS.read(node, 'inputs', { report })) ?? [];
    const ids = read.map(({ id }) => id);
    const distinct = read.filter(({ id }, index) => ids.indexOf(id) === index);
    for (const { id } of distinct) {
      if (ids.indexOf(id) !== ids.lastIndexOf(id)) {
        report(`The input "${id}" is written twice; remove one.`, node as Node, { code: 'duplicate' });
      }
    }
    // After an error any of them may have been meant as a secret.
    return isSound ? distinct : distinct.map((input) => ({ ...input, password: true }));
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
    text: string,
  ): Pick<LoadedConfig, 'servers' | 'broken' | 'entries' | 'envFiles'> {
    const servers: ServerConfig[] = [];
    const broken: BrokenServer[] = [];
    const entries = new Map<string, WrittenEntry>();
    const envFiles: string[] = [];
    if (node && node.type !== 'object') {
      this.#guarding('servers').report('"servers" must be an object of servers by name.', node);
      return { servers, broken, entries, envFiles };
    }
    const { origin } = this.#place;
    const report: Reader['report'] = (message, at, kind) => void this.#report(message, at, kind);
    const all = node ? members(node).map(([key]) => key.value as string) : [];
    if (node && all.length > MAX_SERVERS) {
      const message = `"servers" has ${all.length} servers, and ${MAX_SERVERS} is the limit; remove some.`;
      this.#guarding('servers').report(message, node);
      return { servers, broken, entries, envFiles };
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
        report('"servers" has an entry without a name; name it.', key, { code: 'server_name' });
        continue;
      }
      entries.set(name, writtenEntry(value, text.slice(value.offset, value.offset + value.length)));
      if (origin === 'workspace' && !isPlainName(name)) {
        const message = `"${visibleText(joined('servers', name))}" ${NAME_FORM}`;
        report(message, key, { code: 'server_name' });
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
        reads: (file) => envFiles.push(file),
        warn: (message, at, kind) => void this.#report(message, at, kind, 'warning'),
        report: (message, at, kind) => {
          const problem = this.#report(message, at, kind);
          reason ??= problem;
        },
      });
      if (server) servers.push(server);
      else if (reason) broken.push({ name, reason: reason.message, location: reason.location });
    }
    return { servers, broken, entries, envFiles };
  }

  #locate(path: readonly (string | number)[]): FileLocation {
    for (let length = path.length; length > 0; length--) {
      const node = findNodeAtLocation(this.#root, path.slice(0, length));
      if (node) return this.#at(node.offset);
    }
    return this.#at(this.#root.offset);
  }
}

function strayReport(key: Node): ReturnType<typeof unknownKey> {
  const name = key.value as string;
  const owners = meaningsOf(name).map((key) => `"${key}"`);
  const otherwise = owners.length > 0 ? `it may belong into ${owners.join(' or ')}.` : undefined;
  return unknownKey(joined('', name), key, TOP_LEVEL_KEYS, otherwise);
}

/** Returns the entries of `servers` that are no server but a safety block. */
function serversAmiss(value: Node): [Node, GuardedKey][] {
  const blocks = (value.type === 'object' ? members(value) : []).filter(
    ([, inner]) => !['command', 'url'].some((one) => findNodeAtLocation(inner, [one])),
  );
  return blocks.flatMap(([key]) => (key.value !== 'servers' && isGuarded(key.value) ? [[key, key.value]] : []));
}

function keysOf(node: Node): string[] {
  return node.type === 'object' ? members(node).map(([key]) => key.value as string) : [];
}
