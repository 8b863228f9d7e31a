import { isDeepStrictEqual } from 'node:util';
import { getNodeValue, type Node, parseTree } from 'jsonc-parser';
import { parseConfig } from '../config/loadConfig.ts';
import { isRecord } from '../lib/isRecord.ts';
import { plainName } from '../text/lookAlikes.ts';
import { visibleJson } from '../text/visibleText.ts';
import type { ClientId } from './clientIds.ts';
import { appendItem, setMember } from './jsonText.ts';
import { isFlaw, readEntry } from './readEntry.ts';
import { exactIdentity, isWaygate, maskedIdentity } from './sameServer.ts';
import { type FoundSecret, protectSecrets } from './secrets.ts';
import {
  type ImportedServer,
  type InputEntry,
  mapEntryTexts,
  type ParsedSource,
  type ServerEntry,
} from './serverEntry.ts';
import { readInputs } from './sourceFile.ts';

/** Client file that has been read. */
export interface ReadSource {
  client: ClientId;
  /** Name for the user: `Cursor`, `VS Code Insiders`. */
  title: string;
  file: string;
  scope: 'workspace' | 'user' | 'named';
  parsed: ParsedSource;
}

export interface ImportRequest {
  /** Path of `waygate.json`, and its content; undefined if it does not exist. */
  file: string;
  current: string | undefined;
  workspace: string;
  env: NodeJS.ProcessEnv;
  sources: readonly ReadSource[];
  /** Accepts a server for the import; all by default. */
  accept?: (key: string, name: string) => boolean;
  /** Keys of servers that replace the entry of the same name instead of getting a new name. */
  replace?: ReadonlySet<string>;
}

/**
 * Result for one server. `added`, `renamed` (the name belongs to another server) and `replaced` are written. `present`
 * is already in the file, `duplicate` was found in another source too, and `own` is Waygate itself.
 */
export type Outcome = 'added' | 'renamed' | 'replaced' | 'present' | 'duplicate' | 'own';

export interface PlannedServer {
  /** Identifies one entry of one file. */
  key: string;
  name: string;
  /** Name of the server in the gateway. */
  target: string;
  outcome: Outcome;
  source: ReadSource;
  path: readonly string[];
  disabled: boolean;
  notes: readonly string[];
  /** Places of secrets in clear text, and the references that replace them. */
  references: readonly Omit<FoundSecret, 'value'>[];
  /** Reason why this version of Waygate cannot start the server, from its own loader. */
  cannotStart: string | undefined;
}

export interface ImportPlan {
  file: string;
  before: string | undefined;
  after: string;
  changed: boolean;
  servers: readonly PlannedServer[];
  /** Passes on the values that were replaced by an input, so that the user need not enter them again. */
  keepSecrets(keep: (name: string, value: string) => unknown): Promise<void>;
  /** Hides every secret that was found. */
  redact(text: string): string;
}

/** The existing file cannot be extended; nothing is written. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused';
}

const NEW_FILE = '{\n  "servers": {}\n}\n';

/** Plans an import. Reads only the `envFile`s that the configuration names, and writes no file. */
export function planImport(request: ImportRequest): ImportPlan {
  const { file, env, accept = () => true } = request;
  const before = request.current?.replace(/^\ufeff/, '');
  const mark = request.current?.startsWith('\ufeff') ? '\ufeff' : '';
  const isBlank = before === undefined || before.trim() === '';
  const existing = isBlank ? { servers: new Map(), inputs: [] } : readExisting(before, request);

  const candidates = request.sources.flatMap((source) =>
    source.parsed.servers
      .map((server) => ({ source, server, key: keyOf(source, server) }))
      .filter(({ key, server }) => accept(key, server.name)),
  );
  const names = new Names(
    existing.servers,
    candidates.map(({ server }) => server.name),
  );
  const inputs = new Inputs(existing.inputs);
  const secretValues = new Set([...existing.servers].flatMap(([name, raw]) => secretsOf(name, raw, env)));
  const asInputs = new Map<string, string>();
  const planned: (PlannedServer & { entry: ServerEntry; exact: string; callSeconds?: number | undefined })[] = [];

  for (const { source, server, key } of candidates) {
    const { name, entry, path, notes, callSeconds } = server;
    const exact = exactIdentity(entry, env);
    const base = {
      key,
      name,
      source,
      path,
      entry,
      exact,
      callSeconds,
      disabled: entry.disabled === true,
      cannotStart: undefined,
    };
    const settled = { ...base, notes: [] as readonly string[], references: [] };
    for (const { value } of protectSecrets(name, entry, env).secrets) secretValues.add(value);
    if (isWaygate(entry)) {
      planned.push({ ...settled, target: name, outcome: 'own' });
      continue;
    }
    const present = names.presentAs(name, maskedIdentity(protectSecrets(name, entry, env).entry), env);
    if (present !== undefined) {
      planned.push({ ...settled, target: present, outcome: 'present' });
      continue;
    }
    const twin = planned.find((one) => one.exact === exact && one.outcome !== 'own' && one.source !== source);
    if (twin) {
      planned.push({ ...settled, target: twin.target, outcome: 'duplicate' });
      continue;
    }
    const replaces = request.replace?.has(key) === true && names.canReplace(name);
    const wanted = plainName(name);
    const target = replaces ? names.replace(name) : names.claim(wanted);
    const outcome = replaces ? 'replaced' : target === wanted ? 'added' : 'renamed';
    const safe = protectSecrets(target, entry, env);
    const asked = inputs.adopt(target, safe.entry, safe.secrets, source.parsed.inputs);
    asked.references.forEach(({ reference, input }, i) => {
      const value = safe.secrets[i]?.value;
      if (input && value !== undefined) asInputs.set(reference.slice(2, -1), value);
    });
    const clash = outcome === 'renamed' ? [`another server has the name "${wanted}"`] : [];
    planned.push({
      ...base,
      target,
      outcome,
      entry: asked.entry,
      notes: [...clash, ...notes, ...asked.notes],
      references: asked.references,
    });
  }

  const written = planned.filter(({ outcome }) => ['added', 'renamed', 'replaced'].includes(outcome));
  let after = isBlank ? NEW_FILE : before;
  for (const { target, entry, callSeconds } of written) {
    after = setMember(after, ['servers', target], entry);
    if (callSeconds !== undefined) after = setMember(after, ['timeouts', 'servers', target], callSeconds);
  }
  for (const input of inputs.added) after = appendItem(after, ['inputs'], input);
  const changed = written.length > 0;

  const loaded = parseConfig(after, file, request.workspace, env);
  if (!loaded.usable) throw new Error(`the import would break ${file}; nothing was written.`);
  const broken = new Map(loaded.broken.map(({ name, reason }) => [name, reason]));
  return {
    file,
    before: request.current,
    after: changed ? mark + after : (request.current ?? after),
    changed,
    servers: planned.map(({ entry: _, exact: __, callSeconds: ___, ...one }) => ({
      ...one,
      cannotStart: broken.get(one.target),
    })),
    keepSecrets: async (keep) => {
      for (const [name, value] of asInputs) await keep(name, value);
    },
    redact: (text) => redact(text, secretValues),
  };
}

function keyOf(source: ReadSource, server: ImportedServer): string {
  return `${source.file}#${server.path.join('/')}`;
}

interface Existing {
  servers: Map<string, unknown>;
  inputs: readonly InputEntry[];
}

function readExisting(text: string, { file, workspace, env }: ImportRequest): Existing {
  const loaded = parseConfig(text, file, workspace, env);
  const [problem] = loaded.problems;
  if ((!loaded.usable || loaded.unreadable.has('servers')) && problem) {
    const { line, column } = problem.location;
    throw new ImportRefused(`${file}:${line}:${column}: ${problem.message} Repair it first; nothing was written.`);
  }
  const value: unknown = getNodeValue(parseTree(text, [], { allowTrailingComma: true }) as Node);
  const { servers, inputs } = isRecord(value) ? value : {};
  if (inputs !== undefined && !Array.isArray(inputs)) {
    throw new ImportRefused(`${file}: "inputs" must be a list. Repair it first; nothing was written.`);
  }
  return { servers: new Map(Object.entries(isRecord(servers) ? servers : {})), inputs: readInputs(inputs) };
}

/** Reads an entry of `waygate.json`; undefined if it is not a server. */
function ownEntry(name: string, raw: unknown, env: NodeJS.ProcessEnv): ServerEntry | undefined {
  const scope = { env, platform: process.platform };
  const result = readEntry(name, raw, { path: [], references: (text) => ({ text, notes: [] }), scope });
  return isFlaw(result) ? undefined : result.entry;
}

function secretsOf(name: string, raw: unknown, env: NodeJS.ProcessEnv): string[] {
  const entry = ownEntry(name, raw, env);
  return entry ? protectSecrets(name, entry, env).secrets.map(({ value }) => value) : [];
}

/** Names in use, with their servers. */
class Names {
  readonly #existing: Map<string, unknown>;
  readonly #taken: Set<string>;
  readonly #wanted: ReadonlySet<string>;
  readonly #replaced = new Set<string>();

  constructor(existing: Map<string, unknown>, wanted: readonly string[]) {
    this.#existing = existing;
    this.#taken = new Set(existing.keys());
    this.#wanted = new Set(wanted);
  }

  /** Returns the name under which the same server is in the file; preferably its own name. */
  presentAs(name: string, masked: string, env: NodeJS.ProcessEnv): string | undefined {
    const same = [...this.#existing].flatMap(([known, raw]) => {
      const entry = ownEntry(known, raw, env);
      return entry && maskedIdentity(protectSecrets(known, entry, env).entry) === masked ? [known] : [];
    });
    return same.find((known) => known === name) ?? same[0];
  }

  claim(name: string): string {
    let free = name;
    for (let n = 2; this.#taken.has(free) || (n > 2 && this.#wanted.has(free)); n++) free = `${name}-${n}`;
    this.#taken.add(free);
    return free;
  }

  canReplace(name: string): boolean {
    return this.#existing.has(name) && !this.#replaced.has(name);
  }

  replace(name: string): string {
    this.#replaced.add(name);
    return name;
  }
}

const INPUT_REFERENCE = /\$\{input:([^}]+)\}/g;

/** `inputs` of the file and of the imported servers. One id belongs to one question. */
class Inputs {
  readonly added: InputEntry[] = [];
  readonly #known: Map<string, InputEntry>;

  constructor(existing: readonly InputEntry[]) {
    this.#known = new Map(existing.map((input) => [input.id, input]));
  }

  /** Adds the inputs that an entry needs: those of its source, and a new one for each secret. */
  adopt(target: string, entry: ServerEntry, secrets: readonly FoundSecret[], defined: readonly InputEntry[]) {
    const notes: string[] = [];
    const ids = new Map<string, string>();
    for (const id of referredInputs(entry)) {
      const definition =
        secrets.find(({ input }) => input?.id === id)?.input ?? defined.find((input) => input.id === id);
      if (!definition) notes.push(`its file does not define the input "${id}"; Waygate will ask for it as a secret`);
      const fallback = { type: 'promptString', id, description: `${id} of the MCP server ${target}`, password: true };
      ids.set(id, this.#claim(definition ?? fallback));
    }
    const rename = (text: string): string =>
      text.replace(INPUT_REFERENCE, (_, id: string) => `\${input:${ids.get(id) ?? id}}`);
    const references = secrets.map(({ value: _, ...shown }) => ({ ...shown, reference: rename(shown.reference) }));
    return { entry: mapEntryTexts(entry, rename), references, notes };
  }

  /** Returns the id for the question: a new one if another question has it. */
  #claim(input: InputEntry): string {
    const id = input.id.replace(/[^\w.-]+/g, '-');
    for (let n = 1; ; n++) {
      const one = { ...input, id: n === 1 ? id : `${id}-${n}` };
      const known = this.#known.get(one.id);
      if (known && isDeepStrictEqual(known, one)) return one.id;
      if (known) continue;
      this.#known.set(one.id, one);
      this.added.push(one);
      return one.id;
    }
  }
}

function referredInputs(entry: ServerEntry): Set<string> {
  const ids = new Set<string>();
  mapEntryTexts(entry, (text) => {
    for (const [, id] of text.matchAll(INPUT_REFERENCE)) ids.add(id as string);
    return text;
  });
  return ids;
}

/** Shorter secrets would hide half of every text. */
const MIN_REDACTED = 4;

function redact(text: string, values: ReadonlySet<string>): string {
  return [...values]
    .filter((value) => value.length >= MIN_REDACTED)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, value) => rest.replaceAll(value, '•••').replaceAll(JSON.stringify(value).slice(1, -1), '•••'), text);
}

/** Describes the place of an entry for the user: `"mcpServers" → "github"`, or the table of a TOML file. */
export function shownPath(file: string, path: readonly string[]): string {
  if (file.endsWith('.toml'))
    return `[${path.map((key) => (/^[\w-]+$/.test(key) ? key : visibleJson(key))).join('.')}]`;
  return path.map((key) => visibleJson(key)).join(' → ');
}

/** Returns the servers that clients still start themselves although the gateway has them, by file. */
export function exposedTwice({ servers }: Pick<ImportPlan, 'servers'>): Map<ReadSource, PlannedServer[]> {
  const bySource = new Map<ReadSource, PlannedServer[]>();
  for (const server of servers) {
    if (server.outcome === 'own' || server.disabled) continue;
    bySource.set(server.source, [...(bySource.get(server.source) ?? []), server]);
  }
  return bySource;
}
