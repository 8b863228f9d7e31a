import { isRecord } from '../../lib/isRecord.ts';
import { maskKnown } from '../../secrets/mask.ts';
import { LongText } from '../../text/longText.ts';
import { base64Content, type PartContent, textContent } from './partContent.ts';
import { pythonText } from './pythonForm.ts';

/** Content of a server's result, sorted by use (M2.5). Nothing is copied or decoded yet. */
export interface ResultParts {
  isError: boolean;
  /** Text parts, including those of embedded resources, and odd parts as JSON. Undefined when there are none. */
  text: LongText | undefined;
  /** Full text, including values of the structured content, parts joined by line feeds (M2.3). */
  fullText: LongText;
  binaries: readonly BinaryPart[];
  /** Parts of unknown kind or shape, unchanged (M2.5). */
  odd: readonly unknown[];
  /** Annotations of parts, each with its `part_index`. */
  annotations: readonly Record<string, unknown>[];
}

export type PartKind = 'image' | 'audio' | 'resource' | 'resource_link' | 'structured';

export interface BinaryPart {
  kind: PartKind;
  /** Index in `content`; undefined for structured content. */
  index: number | undefined;
  /** Name of the part (M2.6). A stored artifact has a handle derived from its content instead. */
  handle: string;
  content: PartContent;
  mediaType: string;
  /** Type in the envelope: a link is stored as its address, and described by the type of its target. */
  shownType?: string;
  label: string;
}

type Part = Record<string, unknown>;
type Keep = (binary: BinaryPart) => void;

const FACT_CHARS = 200;
/** Number of keys above which an object is a table and no list of facts. */
const MAX_STATED_KEYS = 10_000;
const NO_CONTENT = '(no content)';

/** Reads any result of a server; never throws (M2.9). */
export function readResult(result: Readonly<Record<string, unknown>>, toolName: string): ResultParts {
  const texts: string[] = [];
  const shown: string[] = [];
  const odd: unknown[] = [];
  const binaries: BinaryPart[] = [];
  const annotations: Record<string, unknown>[] = [];
  const keep: Keep = (binary) => binaries.push(binary);

  partsOf(result.content).forEach((part, index) => {
    if (isRecord(part) && isRecord(part.annotations)) {
      annotations.push({ part_index: index, ...part.annotations });
    }
    const before = texts.length;
    if (convertPart(part, index, toolName, texts, keep)) shown.push(...texts.slice(before));
    else {
      odd.push(part);
      shown.push(oddText(part));
    }
  });
  const text = shown.length > 0 ? new LongText(shown) : undefined;

  const structured = result.structuredContent;
  if (isRecord(structured)) {
    for (const key of Object.keys(structured).slice(0, MAX_STATED_KEYS)) {
      const short = pythonText(structured[key], FACT_CHARS - 1);
      if (short !== undefined) texts.push(`${key}: ${short}`);
    }
    keep({
      kind: 'structured',
      index: undefined,
      handle: `mcp:${toolName}:structured_content`,
      content: { kind: 'json', value: structured },
      mediaType: 'application/json',
      label: `structured content from ${toolName}`,
    });
  }
  const fullText = new LongText(texts.length > 0 ? texts : [NO_CONTENT]);
  return { isError: result.isError === true, text, fullText, binaries, odd, annotations };
}

/** Returns the result with odd parts as text, because a client refuses a result with any; undefined if none is odd. */
export function mendedResult(result: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const { content } = result;
  if (content === undefined || (Array.isArray(content) && !content.some(isOdd))) return undefined;
  const parts = partsOf(content).map((part) => (isOdd(part) ? { type: 'text', text: oddText(part) } : part));
  return { ...result, content: parts };
}

const isOdd = (part: unknown): boolean => !convertPart(part, 0, '', [], () => undefined);

/** Converts a part. Returns whether it is of a known kind and shape. */
function convertPart(part: unknown, index: number, toolName: string, texts: string[], keep: Keep): boolean {
  if (!isRecord(part)) return false;
  const { type, text, resource } = part;
  if (type === 'text' && typeof text === 'string') texts.push(text);
  else if (type === 'image' || type === 'audio') keepMedia(part, type, index, toolName, keep);
  else if (type === 'resource' && isRecord(resource)) keepResource(resource, index, toolName, texts, keep);
  else if (type === 'resource_link' && typeof part.uri === 'string') keepLink(part, index, toolName, keep);
  else return false;
  return true;
}

function keepMedia(part: Part, kind: 'image' | 'audio', index: number, toolName: string, keep: Keep): void {
  keep({
    kind,
    index,
    handle: `mcp:${toolName}:${kind}:${index}`,
    content: base64Content(textOf(part.data)),
    mediaType: shownText(part.mimeType) || (kind === 'image' ? 'image/png' : 'audio/wav'),
    label: `${kind} from ${toolName}`,
  });
}

function keepResource(resource: Part, index: number, toolName: string, texts: string[], keep: Keep): void {
  const text = resource.text;
  if (typeof text === 'string') texts.push(text);
  keep({
    kind: 'resource',
    index,
    handle: `mcp:${toolName}:resource:${index}`,
    content: typeof text === 'string' ? textContent(text) : base64Content(textOf(resource.blob)),
    mediaType: shownText(resource.mimeType) || 'application/octet-stream',
    label: shownText(resource.uri) || `resource from ${toolName}`,
  });
}

function keepLink(part: Part, index: number, toolName: string, keep: Keep): void {
  const uri = shownText(part.uri);
  keep({
    kind: 'resource_link',
    index,
    handle: `mcp:${toolName}:resource_link:${index}`,
    content: textContent(uri),
    mediaType: 'text/uri-list',
    shownType: shownText(part.mimeType) || 'application/octet-stream',
    label: shownText(part.name) || uri,
  });
}

/** Returns a text for a part of unknown kind or shape: a model must see what the server meant to say. */
function oddText(part: unknown): string {
  return typeof part === 'string' ? part : jsonOf(part);
}

function jsonOf(part: unknown): string {
  try {
    return JSON.stringify(part) ?? String(part);
  } catch {
    return '(a part that nests too deeply to be shown)';
  }
}

function partsOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return content === undefined || content === null ? [] : [content];
}

/** Returns an address, a name or a type. Clients and the state folder keep these, so known secrets are masked. */
function shownText(value: unknown): string {
  return maskKnown(textOf(value));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
