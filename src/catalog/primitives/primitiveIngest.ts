import { isRecord } from '../../lib/isRecord.ts';
import { visibleText } from '../../text/visibleText.ts';
import { CatalogError } from '../catalogError.ts';
import { compareCodePoints } from '../codePointOrder.ts';
import { fitNamespace, inferNamespace } from '../namespace.ts';
import { promptHash8, resourceHash8 } from '../shapeHash.ts';
import { isName } from '../toolId.ts';
import { formatPrimitiveId } from './primitiveId.ts';

/** Resource as the catalog lists it (G10). */
export interface CatalogResource {
  id: string;
  namespace: string;
  name: string;
  description: string;
  tags: readonly string[];
  uri: string;
  mimeType: string;
}

export interface PromptArgument {
  name: string;
  description: string;
  required: boolean;
}

/** Prompt as the catalog lists it (G10). */
export interface CatalogPrompt {
  id: string;
  namespace: string;
  name: string;
  description: string;
  tags: readonly string[];
  arguments: readonly PromptArgument[];
  /** Schema for the arguments: all are texts. */
  argumentsSchema: Readonly<Record<string, unknown>>;
}

const MAX_NAME = 128;
const MAX_TAG = 24;

type Json = Readonly<Record<string, unknown>>;

/** Reads an item of `resources/list`. Without a server's namespace, the scheme of the URI is the namespace (G10.4). */
export function ingestResource(raw: unknown, serverNamespace?: string): CatalogResource {
  const item = isRecord(raw) ? raw : {};
  const uri = textOf(item.uri);
  if (uri.trim() === '') throw new CatalogError('missing_uri', 'A resource has no uri.');
  if (visibleText(uri) !== uri) throw new CatalogError('bad_primitive', 'Its address has hidden characters.');
  const mimeType = textOf(item.mimeType);
  const name = textOf(item.name) || uri;
  const namespace = serverNamespace ?? namespaceOfUri(uri);
  const idName = fitPrimitiveName(textOf(item.name) || tailOfUri(uri), 'r_');
  const tags = ['mcp', 'read-only', 'resource'];
  if (mimeType !== '') tags.push(mimeType.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, MAX_TAG));
  return {
    id: formatPrimitiveId({ kind: 'resource', namespace, name: idName, version: null, hash8: resourceHash8(uri) }),
    namespace,
    name,
    description: textOf(item.description) || name,
    tags: [...new Set(tags)].sort(compareCodePoints),
    uri,
    mimeType,
  };
}

/** Reads an item of `prompts/list`. Unlike a tool, a prompt keeps its prefix: `prompt::gh:gh.triage` (G10.4). */
export function ingestPrompt(raw: unknown, serverNamespace?: string): CatalogPrompt {
  const item = isRecord(raw) ? raw : {};
  const name = textOf(item.name);
  if (name === '') throw new CatalogError('missing_name', 'A prompt has no name.');
  const namespace = serverNamespace ?? fitNamespace(inferNamespace(name));
  const promptArguments = argumentsOf(item.arguments);
  const idName = fitPrimitiveName(name, 'p_');
  // Hash the name as it stands in the id: two prompts that fit to one name get one id, and then `~N` (G10.3).
  const hash8 = promptHash8(
    idName,
    promptArguments.map((argument) => argument.name),
  );
  return {
    id: formatPrimitiveId({ kind: 'prompt', namespace, name: idName, version: null, hash8 }),
    namespace,
    name,
    description: textOf(item.description) || name,
    tags: ['mcp', 'prompt'],
    arguments: promptArguments,
    argumentsSchema: schemaOf(promptArguments),
  };
}

/** Returns the valid arguments: a bad argument never drops the prompt. */
function argumentsOf(value: unknown): PromptArgument[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((argument) => isRecord(argument) && textOf(argument.name) !== '')
    .map((argument: Json) => ({
      name: argument.name as string,
      description: textOf(argument.description),
      required: argument.required === true,
    }));
}

function schemaOf(promptArguments: readonly PromptArgument[]): Json {
  const properties = promptArguments.map(({ name, description }): [string, Json] => [
    name,
    description === '' ? { type: 'string' } : { type: 'string', description },
  ]);
  const required = promptArguments.filter((argument) => argument.required).map((argument) => argument.name);
  // From entries instead of assignment: an argument may be called `__proto__`.
  const schema = { type: 'object', properties: Object.fromEntries(properties) };
  return required.length > 0 ? { ...schema, required } : schema;
}

function namespaceOfUri(uri: string): string {
  const colon = uri.indexOf(':');
  return fitNamespace(colon > 0 ? uri.slice(0, colon) : '');
}

function tailOfUri(uri: string): string {
  const path = uri.replace(/^[^:]*:/, '').replace(/\/+$/, '');
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Fits a name character by character, so that its length stays. The hash distinguishes names that become equal. */
function fitPrimitiveName(name: string, prefix: string): string {
  const fitted = name.replaceAll(/[^A-Za-z0-9_.-]/gu, '_').replaceAll(/^[.-]+|[.-]+$/g, '');
  const started = /^[A-Za-z_]/.test(fitted) ? fitted : prefix + fitted;
  const cut = started.slice(0, MAX_NAME);
  return isName(cut) ? cut : prefix;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
