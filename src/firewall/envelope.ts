import { LongText, wholeCut } from './longText.ts';
import { base64Content, contentSize, type PartContent, textContent } from './partContent.ts';
import { pythonJson, pythonText } from './pythonForm.ts';

/** The result envelope of 000 §4.2 and 001, `mcp_result_to_envelope`. */
export interface ArtifactRef {
  handle: string;
  media_type: string;
  size_bytes: number;
  label: string;
  /** The SHA-256 of its bytes, once it is stored. */
  content_hash?: string;
}

export interface ResultEnvelope {
  status: 'ok' | 'partial' | 'error';
  summary: string;
  facts: string[];
  artifacts: ArtifactRef[];
  views: never[];
  provenance: Record<string, unknown>;
  firewall_stats?: FirewallStats;
}

export interface FirewallStats {
  triggered: boolean;
  strategy: 'summary' | 'passthrough';
  threshold_chars: number;
  original_chars: number;
  original_tokens: number;
  summary_chars: number;
  summary_tokens: number;
  artifact_ref: string | null;
  summarized_by_llm: false;
  llm_provider: null;
}

export type PartKind = 'image' | 'audio' | 'resource' | 'resource_link' | 'structured';

export interface BinaryPart {
  kind: PartKind;
  /** Its place in `content`; structured content has none. */
  index: number | undefined;
  handle: string;
  content: PartContent;
  size: number;
  mediaType: string;
  label: string;
}

export interface ConvertedResult {
  envelope: ResultEnvelope;
  /** What the envelope's artifacts stand for, in their order. */
  binaries: readonly BinaryPart[];
  /** All text of the result, what its structure states included, parts joined by newlines (001). */
  fullText: LongText;
  /** The text parts alone: servers repeat them as structure. Undefined when there are none. */
  text: LongText | undefined;
  structured: Record<string, unknown> | undefined;
  /** Parts of no known kind or shape, as they came. */
  odd: readonly unknown[];
}

const SUMMARY_CHARS = 500;
const FACT_CHARS = 200;
const MAX_FACTS = 20;
/** Summary and facts are taken from this much of a text. */
export const STATEMENT_HORIZON_CHARS = 256 * 1024;
const NO_CONTENT = '(no content)';

type Part = Record<string, unknown>;

/** Converts whatever a server returned. 001 knows no place for a part of another shape: it is handed on, never thrown at. */
export function resultToEnvelope(result: Readonly<Record<string, unknown>>, toolName: string): ConvertedResult {
  const texts: string[] = [];
  const odd: unknown[] = [];
  const binaries: BinaryPart[] = [];
  const artifacts: ArtifactRef[] = [];
  const annotations: Record<string, unknown>[] = [];
  const keep: Keep = (binary, mediaType = binary.mediaType) => {
    const size = contentSize(binary.content);
    binaries.push({ ...binary, size });
    artifacts.push({ handle: binary.handle, media_type: mediaType, size_bytes: size, label: binary.label });
  };

  partsOf(result['content']).forEach((part, index) => {
    if (isObject(part) && isObject(part['annotations'])) {
      annotations.push({ part_index: index, ...part['annotations'] });
    }
    if (!convertPart(part, index, toolName, texts, keep)) odd.push(part);
  });
  const text = texts.length > 0 ? new LongText([...texts]) : undefined;

  const structured = isObject(result['structuredContent']) ? result['structuredContent'] : undefined;
  if (structured) {
    for (const [key, value] of Object.entries(structured)) {
      const short = pythonText(value, FACT_CHARS - 1);
      if (short !== undefined) texts.push(`${key}: ${short}`);
    }
    keep({
      kind: 'structured',
      index: undefined,
      handle: `mcp:${toolName}:structured_content`,
      content: textContent(pythonJson(structured)),
      mediaType: 'application/json',
      label: `structured content from ${toolName}`,
    });
  }

  const fullText = new LongText(texts.length > 0 ? texts : [NO_CONTENT]);
  return {
    envelope: {
      status: result['isError'] === true ? 'error' : 'ok',
      ...statementsOf(fullText.head(STATEMENT_HORIZON_CHARS)),
      artifacts,
      views: [],
      provenance: {
        tool: toolName,
        protocol: 'mcp',
        ...(annotations.length > 0 ? { content_annotations: annotations } : {}),
      },
    },
    binaries,
    fullText,
    text,
    structured,
    odd,
  };
}

type Keep = (binary: Omit<BinaryPart, 'size'>, mediaType?: string) => void;

/** Whether the part is of a known kind and shape. */
function convertPart(part: unknown, index: number, toolName: string, texts: string[], keep: Keep): boolean {
  if (!isObject(part)) return false;
  const { type, text, resource } = part;
  if (type === 'text' && typeof text === 'string') texts.push(text);
  else if (type === 'image' || type === 'audio') keepMedia(part, type, index, toolName, keep);
  else if (type === 'resource' && isObject(resource)) keepResource(resource, index, toolName, texts, keep);
  else if (type === 'resource_link' && typeof part['uri'] === 'string') keepLink(part, index, toolName, keep);
  else return false;
  return true;
}

function keepMedia(part: Part, kind: 'image' | 'audio', index: number, toolName: string, keep: Keep): void {
  keep({
    kind,
    index,
    handle: `mcp:${toolName}:${kind}:${index}`,
    content: base64Content(textOf(part['data'])),
    mediaType: textOf(part['mimeType']) || (kind === 'image' ? 'image/png' : 'audio/wav'),
    label: `${kind} from ${toolName}`,
  });
}

function keepResource(resource: Part, index: number, toolName: string, texts: string[], keep: Keep): void {
  const text = resource['text'];
  if (typeof text === 'string') texts.push(text);
  keep({
    kind: 'resource',
    index,
    handle: `mcp:${toolName}:resource:${index}`,
    content: typeof text === 'string' ? textContent(text) : base64Content(textOf(resource['blob'])),
    mediaType: textOf(resource['mimeType']) || 'application/octet-stream',
    label: textOf(resource['uri']) || `resource from ${toolName}`,
  });
}

function keepLink(part: Part, index: number, toolName: string, keep: Keep): void {
  const uri = textOf(part['uri']);
  const binary = {
    kind: 'resource_link' as const,
    index,
    handle: `mcp:${toolName}:resource_link:${index}`,
    content: textContent(uri),
    mediaType: 'text/uri-list',
    label: textOf(part['name']) || uri,
  };
  keep(binary, textOf(part['mimeType']) || 'application/octet-stream');
}

/** The beginning of a text and what it states (001). */
export function statementsOf(text: string): { summary: string; facts: string[] } {
  return { summary: text.slice(0, wholeCut(text, Math.min(SUMMARY_CHARS, text.length))), facts: factsOf(text) };
}

/** Lines that state something: they have a colon and are short (001). */
function factsOf(text: string): string[] {
  const facts: string[] = [];
  for (let start = 0; start <= text.length && facts.length < MAX_FACTS; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end).trim();
    if (line.includes(':') && line.length < FACT_CHARS) facts.push(line);
    start = end + 1;
  }
  return facts;
}

function partsOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return content === undefined || content === null ? [] : [content];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
