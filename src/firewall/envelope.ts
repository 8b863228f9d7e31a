import { pythonJson, pythonText } from './pythonForm.ts';

/** The result envelope of 000 §4.2 and 001, `mcp_result_to_envelope`. */
export interface ArtifactRef {
  handle: string;
  media_type: string;
  size_bytes: number;
  label: string;
}

export interface ResultEnvelope {
  status: 'ok' | 'partial' | 'error';
  summary: string;
  facts: string[];
  artifacts: ArtifactRef[];
  views: never[];
  provenance: Record<string, unknown>;
}

export interface BinaryPart {
  handle: string;
  bytes: Buffer;
  mediaType: string;
  label: string;
}

export interface ConvertedResult {
  envelope: ResultEnvelope;
  /** What the envelope's artifacts stand for, in their order. */
  binaries: readonly BinaryPart[];
  /** All text of the result, what its structure states included, parts joined by newlines (001). */
  fullText: string;
  /** What a model reads: servers repeat their text as structure, so the structure speaks only where there is no text. */
  readableText: string;
}

const SUMMARY_CHARS = 500;
const FACT_CHARS = 200;
const MAX_FACTS = 20;
const NO_CONTENT = '(no content)';

type Part = Record<string, unknown>;

/** Converts whatever a server returned: parts of the wrong shape are passed over, never thrown at. */
export function resultToEnvelope(result: Record<string, unknown>, toolName: string): ConvertedResult {
  const texts: string[] = [];
  const artifacts: ArtifactRef[] = [];
  const binaries: BinaryPart[] = [];
  const annotations: Record<string, unknown>[] = [];
  const keep = (binary: BinaryPart, mediaType = binary.mediaType): void => {
    binaries.push(binary);
    const { handle, bytes, label } = binary;
    artifacts.push({ handle, media_type: mediaType, size_bytes: bytes.length, label });
  };

  const parts = Array.isArray(result['content']) ? result['content'] : [];
  parts.forEach((part: unknown, index) => {
    if (!isObject(part)) return;
    if (isObject(part['annotations'])) annotations.push({ part_index: index, ...part['annotations'] });
    convertPart(part, index, toolName, texts, keep);
  });

  const structured = result['structuredContent'];
  const readableText =
    texts.length > 0 || !isObject(structured) ? texts.join('\n') : JSON.stringify(structured, null, 2);
  if (isObject(structured)) {
    for (const [key, value] of Object.entries(structured)) {
      const text = pythonText(value);
      if (text.length < FACT_CHARS) texts.push(`${key}: ${text}`);
    }
    keep({
      handle: `mcp:${toolName}:structured_content`,
      bytes: Buffer.from(pythonJson(structured)),
      mediaType: 'application/json',
      label: `structured content from ${toolName}`,
    });
  }

  const fullText = texts.length > 0 ? texts.join('\n') : NO_CONTENT;
  return {
    envelope: {
      status: result['isError'] === true ? 'error' : 'ok',
      summary: fullText.slice(0, SUMMARY_CHARS),
      facts: factsOf(fullText),
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
    readableText: readableText || NO_CONTENT,
  };
}

function convertPart(
  part: Part,
  index: number,
  toolName: string,
  texts: string[],
  keep: (binary: BinaryPart, mediaType?: string) => void,
): void {
  switch (part['type']) {
    case 'text':
      if (typeof part['text'] === 'string') texts.push(part['text']);
      return;
    case 'image':
    case 'audio': {
      const kind = part['type'];
      const fallback = kind === 'image' ? 'image/png' : 'audio/wav';
      keep({
        handle: `mcp:${toolName}:${kind}:${index}`,
        bytes: decodeBase64(textOf(part['data'])),
        mediaType: textOf(part['mimeType']) || fallback,
        label: `${kind} from ${toolName}`,
      });
      return;
    }
    case 'resource': {
      const resource = isObject(part['resource']) ? part['resource'] : {};
      const text = resource['text'];
      if (typeof text === 'string') texts.push(text);
      keep({
        handle: `mcp:${toolName}:resource:${index}`,
        bytes: typeof text === 'string' ? Buffer.from(text) : decodeBase64(textOf(resource['blob'])),
        mediaType: textOf(resource['mimeType']) || 'application/octet-stream',
        label: textOf(resource['uri']) || `resource from ${toolName}`,
      });
      return;
    }
    case 'resource_link': {
      const uri = textOf(part['uri']);
      keep(
        {
          handle: `mcp:${toolName}:resource_link:${index}`,
          bytes: Buffer.from(uri),
          mediaType: 'text/uri-list',
          label: textOf(part['name']) || uri,
        },
        textOf(part['mimeType']) || 'application/octet-stream',
      );
      return;
    }
  }
}

/** Lines that state something: they have a colon and are short (001). */
function factsOf(text: string): string[] {
  const facts: string[] = [];
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed.includes(':') && trimmed.length < FACT_CHARS) facts.push(trimmed);
    if (facts.length === MAX_FACTS) break;
  }
  return facts;
}

/** What is not base64 is kept as it stands: nothing of a result is lost. */
function decodeBase64(data: string): Buffer {
  const valid = data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
  return Buffer.from(data, valid ? 'base64' : 'utf8');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
