import { isRecord } from '../../lib/isRecord.ts';
import { maskKnown } from '../../secrets/mask.ts';
import { scrubValue } from '../../secrets/scrubValue.ts';
import { isExecutable, isLinkable } from '../../text/foreignAddress.ts';
import { LongText } from '../../text/longText.ts';
import { count, oneLine } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import { contentSize, maskedBase64 } from './partContent.ts';
import type { BinaryPart } from './resultParts.ts';

/** Part of a result for the client, beside the text. */
export type ClientPart = Readonly<Record<string, unknown>> & { type: string };

export interface RelayedParts {
  parts: ClientPart[];
  /** Notes, one for each part that the model cannot read. */
  notes: string[];
  /** Text parts for the model; undefined when the server kept none of them from it. */
  modelText: LongText | undefined;
}

export interface RelayTerms {
  budget: number;
  /** Folder whose files a server may link to. */
  workspace: string | undefined;
}

export const MEDIA_BUDGET_BYTES = 3 * 1024 * 1024;
/** Size limit of a text for the user alone; the note names longer ones by their handle. */
const MAX_USER_TEXT_CHARS = 8_000;
const MAX_URI_CHARS = 2_048;

/** Copilot puts embedded resources and links into the prompt unless they are for the user alone. */
const FOR_USER = ['user'];

/**
 * Returns the parts for a client that can show more than text, within a budget. Notes name the others by their handle
 * (M2.11).
 */
export function relayedParts(
  content: unknown,
  binaries: readonly BinaryPart[],
  handles: readonly (string | undefined)[],
  { budget, workspace }: RelayTerms,
): RelayedParts {
  const source = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const parts: ClientPart[] = [];
  const notes: string[] = [];
  let left = budget;
  binaries.forEach((binary, i) => {
    const part = binary.index === undefined ? undefined : source[binary.index];
    if (!isRecord(part)) return;
    const size = contentSize(binary.content);
    const relayed = size <= left ? relayable(part, binary, workspace) : undefined;
    if (relayed) {
      left -= size;
      parts.push(relayed);
    }
    notes.push(...noteOf(binary, size, handles[i], relayed !== undefined));
  });
  const { userTexts, modelTexts } = byAudience(source);
  for (const part of userTexts) if ((part.text as string).length <= MAX_USER_TEXT_CHARS) parts.push(part);
  if (userTexts.length > 0) notes.push(`${count(userTexts.length, 'text part')} for the user alone`);
  return { parts, notes, modelText: userTexts.length > 0 ? new LongText(modelTexts) : undefined };
}

function relayable(
  part: Record<string, unknown>,
  { kind, content, mediaType, label }: BinaryPart,
  workspace: string | undefined,
): ClientPart | undefined {
  const annotations = isRecord(part.annotations) ? part.annotations : {};
  const forUser = { annotations: { ...plainAnnotations(annotations), audience: FOR_USER } };
  switch (kind) {
    case 'image':
    case 'audio': {
      // A client passes these on to a model that rejects a whole turn for a malformed one.
      if (content.kind !== 'base64' || content.data.length === 0 || !isMediaType(mediaType, kind)) return undefined;
      const own = Object.keys(annotations).length > 0 ? { annotations: plainAnnotations(annotations) } : {};
      return { type: kind, data: content.data, mimeType: mediaType, ...own };
    }
    case 'resource': {
      const resource = part.resource as Record<string, unknown>;
      if (typeof resource.uri !== 'string' || !isPlainUri(resource.uri) || isExecutable(resource.uri)) return undefined;
      const { text } = resource;
      if (content.kind !== 'base64' && typeof text !== 'string') return undefined;
      const uri = maskKnown(resource.uri);
      const body = content.kind === 'base64' ? { blob: content.data } : { text: visibleText(text as string) };
      const mimeType = typeof resource.mimeType === 'string' ? { mimeType: oneLine(maskKnown(resource.mimeType)) } : {};
      return { type: 'resource', resource: { uri, ...mimeType, ...body }, ...forUser };
    }
    case 'resource_link': {
      const uri = maskKnown(part.uri as string);
      if (!isPlainUri(uri) || !isLinkable(uri, workspace)) return undefined;
      const mimeType = typeof part.mimeType === 'string' ? { mimeType: oneLine(maskKnown(part.mimeType)) } : {};
      return { type: 'resource_link', uri, name: oneLine(label) || uri, ...mimeType, ...forUser };
    }
    default:
      return undefined;
  }
}

/** Returns the note about a part that the model cannot read. The text of a resource is part of the text. */
function noteOf(
  { kind, mediaType, label, content }: BinaryPart,
  size: number,
  handle: string | undefined,
  isRelayed: boolean,
): string[] {
  const name = oneLine(label, 200);
  if (kind === 'resource_link') {
    const uri = content.kind === 'text' ? oneLine(content.text.head(300), 300) : '';
    return [`link: ${name === uri ? uri : `${name} <${uri}>`}`];
  }
  if (kind === 'resource' && content.kind === 'text') return [];
  const where = isRelayed ? 'attached' : 'not attached';
  const what = kind === 'resource' ? `file ${name}` : kind;
  return [
    `${what} (${oneLine(mediaType, 100)}, ${count(size, 'byte')}) ${where}${handle === undefined ? '' : `, kept as ${handle}`}`,
  ];
}

/** Returns whether a client can get an address. Escapes would change it. */
function isPlainUri(uri: string): boolean {
  return uri.length <= MAX_URI_CHARS && visibleText(uri) === uri;
}

/** Separates text annotated for the user alone, which the model must not read. */
function byAudience(source: readonly unknown[]): { userTexts: ClientPart[]; modelTexts: string[] } {
  const userTexts: ClientPart[] = [];
  const modelTexts: string[] = [];
  for (const part of source) {
    if (!isRecord(part)) continue;
    const { type, text, resource, annotations } = part;
    const resourceText = type === 'resource' && isRecord(resource) ? resource.text : undefined;
    if (type === 'text' && typeof text === 'string') {
      if (isForUserAlone(annotations))
        userTexts.push({ type, text: visibleText(text), annotations: plainAnnotations(annotations) });
      else modelTexts.push(text);
    } else if (typeof resourceText === 'string') modelTexts.push(resourceText);
  }
  return { userTexts, modelTexts };
}

function isForUserAlone(annotations: unknown): annotations is Record<string, unknown> {
  const audience = isRecord(annotations) ? annotations.audience : undefined;
  return Array.isArray(audience) && audience.includes('user') && !audience.includes('assistant');
}

/** Returns annotations that MCP knows, in its types: a client may reject the whole result for others. */
function plainAnnotations({ audience, priority, lastModified }: Record<string, unknown>): Record<string, unknown> {
  const roles = Array.isArray(audience) ? audience.filter((role) => role === 'user' || role === 'assistant') : [];
  return {
    ...(roles.length > 0 ? { audience: roles } : {}),
    ...(typeof priority === 'number' && priority >= 0 && priority <= 1 ? { priority } : {}),
    ...(typeof lastModified === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(lastModified)
      ? { lastModified }
      : {}),
  };
}

/** Returns how a client can show this type. SVG counts as text, because few models take it. */
export function mediaKind(mediaType: string): 'image' | 'audio' | undefined {
  if (mediaType === 'image/svg+xml') return undefined;
  if (isMediaType(mediaType, 'image')) return 'image';
  return isMediaType(mediaType, 'audio') ? 'audio' : undefined;
}

function isMediaType(mediaType: string, kind: string): boolean {
  return mediaType.startsWith(`${kind}/`) && /^[\w.+-]+\/[\w.+-]+$/.test(mediaType);
}

/** Masks a part that the server `from` sent. */
export function maskedPart(part: ClientPart, from: string | undefined): ClientPart {
  const { data, resource, ...rest } = part;
  const { blob, ...about } = (resource ?? {}) as { blob?: unknown };
  return {
    ...(scrubValue(rest, from) as ClientPart),
    ...(resource === undefined
      ? {}
      : { resource: { ...(scrubValue(about, from) as object), ...bytesOf('blob', blob) } }),
    ...bytesOf('data', data),
  };
}

function bytesOf(key: string, data: unknown): object {
  return typeof data === 'string' ? { [key]: maskedBase64(data) } : {};
}
