import { LongText } from '../../text/longText.ts';
import { count } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import { contentSize } from './partContent.ts';
import { type BinaryPart, isObject } from './resultParts.ts';

/** A part of a result that is handed on beside the text. */
export type ClientPart = Readonly<Record<string, unknown>> & { type: string };

export interface RelayedParts {
  parts: ClientPart[];
  /** One line for each part that the model cannot read. */
  notes: string[];
  /** What the text parts say to the model; undefined when the server kept none of them from it. */
  modelText: LongText | undefined;
}

export const MEDIA_BUDGET_BYTES = 3 * 1024 * 1024;
/** A text that is meant for the person alone; longer ones are named by their handle. */
const MAX_USER_TEXT_CHARS = 8_000;
const MAX_URI_CHARS = 2_048;

/** Copilot puts embedded resources and links into the prompt unless they are for the user alone. */
const FOR_USER = ['user'];

/** What a client that can show more than text gets, within a budget; what is over it is named by its handle. */
export function relayedParts(
  content: unknown,
  binaries: readonly BinaryPart[],
  handles: readonly (string | undefined)[],
  budget: number,
): RelayedParts {
  const source = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const parts: ClientPart[] = [];
  const notes: string[] = [];
  let left = budget;
  binaries.forEach((binary, i) => {
    const part = binary.index === undefined ? undefined : source[binary.index];
    if (!isObject(part)) return;
    const size = contentSize(binary.content);
    const relayed = size <= left ? relayable(part, binary) : undefined;
    if (relayed) {
      left -= size;
      parts.push(relayed);
    }
    notes.push(...noteOf(binary, size, handles[i], relayed !== undefined));
  });
  const { userTexts, modelTexts } = byAudience(source);
  for (const part of userTexts) if ((part['text'] as string).length <= MAX_USER_TEXT_CHARS) parts.push(part);
  if (userTexts.length > 0) notes.push(`${count(userTexts.length, 'text part')} for the user alone`);
  return { parts, notes, modelText: userTexts.length > 0 ? new LongText(modelTexts) : undefined };
}

function relayable(
  part: Record<string, unknown>,
  { kind, content, mediaType, label }: BinaryPart,
): ClientPart | undefined {
  const annotations = isObject(part['annotations']) ? part['annotations'] : {};
  const forUser = { annotations: { ...plainAnnotations(annotations), audience: FOR_USER } };
  switch (kind) {
    case 'image':
    case 'audio': {
      // A client passes these on to a model that refuses a whole turn for one that is malformed.
      if (content.kind !== 'base64' || content.data.length === 0 || !isMediaType(mediaType, kind)) return undefined;
      const own = Object.keys(annotations).length > 0 ? { annotations: plainAnnotations(annotations) } : {};
      return { type: kind, data: content.data, mimeType: mediaType, ...own };
    }
    case 'resource': {
      const resource = part['resource'] as Record<string, unknown>;
      const uri = resource['uri'];
      if (typeof uri !== 'string' || uri.length > MAX_URI_CHARS) return undefined;
      const body = content.kind === 'base64' ? { blob: content.data } : { text: resource['text'] };
      if (typeof (body.text ?? body.blob) !== 'string') return undefined;
      const mimeType = typeof resource['mimeType'] === 'string' ? { mimeType: resource['mimeType'] } : {};
      return { type: 'resource', resource: { uri, ...mimeType, ...body }, ...forUser };
    }
    case 'resource_link': {
      const uri = part['uri'] as string;
      if (uri.length > MAX_URI_CHARS) return undefined;
      const mimeType = typeof part['mimeType'] === 'string' ? { mimeType: part['mimeType'] } : {};
      return { type: 'resource_link', uri, name: new LongText([label]).head(256) || uri, ...mimeType, ...forUser };
    }
    default:
      return undefined;
  }
}

/** The model reads a resource's text with the rest; of what it cannot read it is told. */
function noteOf(
  { kind, mediaType, label, content }: BinaryPart,
  size: number,
  handle: string | undefined,
  isRelayed: boolean,
): string[] {
  const name = new LongText([visibleText(label).replace(/\s+/g, ' ')]).head(200);
  if (kind === 'resource_link') {
    const uri = content.kind === 'text' ? visibleText(content.text.head(300)).replace(/\s+/g, ' ') : '';
    return [`link: ${name === uri ? uri : `${name} <${uri}>`}`];
  }
  if (kind === 'resource' && content.kind === 'text') return [];
  const where = isRelayed ? 'attached' : 'not attached';
  const what = kind === 'resource' ? `file ${name}` : kind;
  return [
    `${what} (${visibleText(mediaType)}, ${count(size, 'byte')}) ${where}${handle === undefined ? '' : `, kept as ${handle}`}`,
  ];
}

/** Text that is annotated for the user alone is not for the model, as with a server that a client speaks to itself. */
function byAudience(source: readonly unknown[]): { userTexts: ClientPart[]; modelTexts: string[] } {
  const userTexts: ClientPart[] = [];
  const modelTexts: string[] = [];
  for (const part of source) {
    if (!isObject(part)) continue;
    const { type, text, resource, annotations } = part;
    const resourceText = type === 'resource' && isObject(resource) ? resource['text'] : undefined;
    if (type === 'text' && typeof text === 'string') {
      if (isForUserAlone(annotations)) userTexts.push({ type, text, annotations: plainAnnotations(annotations) });
      else modelTexts.push(text);
    } else if (typeof resourceText === 'string') modelTexts.push(resourceText);
  }
  return { userTexts, modelTexts };
}

function isForUserAlone(annotations: unknown): annotations is Record<string, unknown> {
  const audience = isObject(annotations) ? annotations['audience'] : undefined;
  return Array.isArray(audience) && audience.includes('user') && !audience.includes('assistant');
}

/** Only what MCP knows, in its types: a client may refuse the whole result for more. */
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

/** What a client can show of an artifact of this type; SVG is text, and few models take it. */
export function mediaKind(mediaType: string): 'image' | 'audio' | undefined {
  if (mediaType === 'image/svg+xml') return undefined;
  if (isMediaType(mediaType, 'image')) return 'image';
  return isMediaType(mediaType, 'audio') ? 'audio' : undefined;
}

function isMediaType(mediaType: string, kind: string): boolean {
  return mediaType.startsWith(`${kind}/`) && /^[\w.+-]+\/[\w.+-]+$/.test(mediaType);
}
