import { isRecord } from '../lib/isRecord.ts';
import { deriveSafety } from './cards/card.ts';
import { CatalogError, type CatalogErrorCode } from './catalogError.ts';
import { compareCodePoints } from './codePointOrder.ts';
import { isDestructive } from './destructive.ts';
import { deriveName, deriveNameOnServer, fitName, fitNamespace, inferNamespace } from './namespace.ts';
import { hash8, pinOf } from './shapeHash.ts';
import { formatToolId, isVersion, type ToolIdParts } from './toolId.ts';
import type { CatalogTool, ServerOrigin } from './types.ts';

/** Origin of a tool: the configured server and its namespace. */
export interface ToolSource {
  server: string;
  namespace: string;
  origin?: ServerOrigin | undefined;
}

/** Flaw that does not keep the tool out of the catalog. */
export interface Flaw {
  code: CatalogErrorCode;
  reason: string;
}

export interface IngestedTool {
  tool: CatalogTool;
  flaws: Flaw[];
}

/** Nesting limit of a schema. Real schemas stay far below; deeper ones aim at a stack overflow. */
const MAX_NESTING = 200;

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads one item of a `tools/list` and trusts nothing in it. Throws `CatalogError` for an item that cannot be a tool;
 * every lesser defect is repaired and reported as a flaw. Without a source, the name determines the namespace (G1.6).
 */
export function ingestTool(raw: unknown, source?: ToolSource): IngestedTool {
  if (!isRecord(raw)) throw new CatalogError('bad_tool', `An item of the list is ${described(raw)} and not a tool.`);
  const upstreamName = raw.name;
  if (typeof upstreamName !== 'string' || upstreamName.trim() === '') {
    throw new CatalogError('missing_name', `A tool has ${described(raw.name)} where its name should be.`);
  }
  const flaws: Flaw[] = [];
  const inputSchema = schemaOf(raw.inputSchema, 'input schema', flaws) ?? {};
  const outputSchema = schemaOf(raw.outputSchema, 'output schema', flaws);
  const annotations = annotationsOf(raw.annotations, flaws);
  const description = descriptionOf(raw.description, flaws);
  const idParts = identify(upstreamName, inputSchema, raw._meta, source, flaws);
  const tags = tagsOf(annotations, isDestructive({ name: upstreamName, title: raw.title, annotations }));
  const title = firstString(raw.title, annotations.title);
  const tool: CatalogTool = {
    id: formatToolId(idParts),
    namespace: idParts.namespace,
    name: idParts.name,
    server: source?.server ?? idParts.namespace,
    ...(source?.origin !== undefined && { origin: source.origin }),
    upstreamName,
    title,
    description,
    tags,
    safety: deriveSafety(tags),
    sideEffects: annotations.readOnlyHint !== true,
    costHint: costOf(annotations.costHint),
    ...(isRecord(raw.execution) && raw.execution.taskSupport === 'required' ? { requiresTask: true } : {}),
    inputSchema,
    outputSchema,
    annotations,
    // Computed on demand: hashing every schema would take most of a build, and few pins are needed.
    get fingerprint() {
      return pinOf(raw);
    },
  };
  return { tool, flaws };
}

function identify(
  upstreamName: string,
  inputSchema: unknown,
  meta: unknown,
  source: ToolSource | undefined,
  flaws: Flaw[],
): ToolIdParts {
  const wantedNamespace = source?.namespace ?? inferNamespace(upstreamName);
  const namespace = fitNamespace(wantedNamespace);
  if (namespace !== wantedNamespace) {
    flaws.push({ code: 'namespace_grammar', reason: `its namespace is not legal and was made "${namespace}"` });
  }
  const wantedName = source
    ? deriveNameOnServer(upstreamName, source.server, source.namespace)
    : deriveName(upstreamName);
  const name = fitName(wantedName);
  if (name !== wantedName) {
    flaws.push({ code: 'name_grammar', reason: `its name does not fit a tool_id and stands there as "${name}"` });
  }
  const version = versionOf(meta, flaws);
  // Two names can be fitted to the same one; the hash over the raw name keeps them apart even beside a version.
  const hashed = version === null || name !== wantedName;
  return { namespace, name, version, hash8: hashed ? hash8(upstreamName, inputSchema) : null };
}

function versionOf(meta: unknown, flaws: Flaw[]): string | null {
  const declared = isRecord(meta) ? meta.version : undefined;
  if (declared === undefined || declared === null || declared === '') return null;
  const version = typeof declared === 'number' ? String(declared) : declared;
  if (typeof version === 'string' && isVersion(version)) return version;
  flaws.push({ code: 'version_grammar', reason: 'its declared version does not fit a tool_id and is not used' });
  return null;
}

function descriptionOf(value: unknown, flaws: Flaw[]): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  const what = typeof value === 'string' || value === undefined || value === null ? 'it has none' : described(value);
  flaws.push({
    code: 'missing_description',
    reason: `no description (${what}): only its name and arguments describe it`,
  });
  return '';
}

function schemaOf(value: unknown, what: string, flaws: Flaw[]): Json | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) {
    flaws.push({ code: 'bad_tool', reason: `its ${what} is ${described(value)} and not an object: it is left out` });
    return undefined;
  }
  if (nestedDeeperThan(value, MAX_NESTING)) {
    throw new CatalogError('bad_tool', `Its ${what} is nested deeper than ${MAX_NESTING} levels.`);
  }
  return value;
}

function annotationsOf(value: unknown, flaws: Flaw[]): Json {
  if (value === undefined || value === null) return {};
  if (isRecord(value) && !nestedDeeperThan(value, MAX_NESTING)) return value;
  flaws.push({ code: 'bad_tool', reason: `its annotations are ${described(value)}, of no use: they are left out` });
  return {};
}

/** Tags every MCP tool `mcp`. Hints are unverified statements of the server (M1.2). */
function tagsOf(annotations: Json, destructive: boolean): string[] {
  const tags = ['mcp'];
  if (annotations.readOnlyHint === true) tags.push('read-only');
  if (destructive) tags.push('destructive');
  return tags.sort(compareCodePoints);
}

function costOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

function firstString(...values: unknown[]): string {
  return values.find((value): value is string => typeof value === 'string' && value.trim() !== '') ?? '';
}

function nestedDeeperThan(container: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const child of Array.isArray(container) ? container : Object.values(container)) {
    if (child !== null && typeof child === 'object' && nestedDeeperThan(child, levels - 1)) return true;
  }
  return false;
}

function described(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value === '') return 'an empty text';
  if (typeof value === 'string') return value.trim() === '' ? 'only white space' : 'a text';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
