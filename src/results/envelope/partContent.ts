import { isUtf8 } from 'node:buffer';
import { scrubSecretChunks, scrubSecrets } from '../../secrets/mask.ts';
import { LongText } from '../../text/longText.ts';
import { pythonJsonChunks } from './pythonForm.ts';

/** Content of a part, encoded on demand: a large one is never in memory as a whole. */
export type PartContent = TextContent | { kind: 'base64'; data: string };

/** Text as received, or a value to be written as JSON. */
type TextContent = ({ kind: 'text'; text: LongText } | { kind: 'json'; value: unknown }) & { masked?: boolean };

const CHUNK_CHARS = 1 << 20;

export function textContent(text: string | LongText): PartContent {
  return { kind: 'text', text: typeof text === 'string' ? new LongText([text]) : text };
}

/** Returns the content with its secrets masked. Only text can contain findable secrets, encoded or not. */
export function maskedContent(content: PartContent): PartContent {
  if (content.kind !== 'base64') return { ...content, masked: true };
  const bytes = Buffer.from(content.data, 'base64');
  if (!isText(bytes)) return content;
  return { kind: 'text', text: new LongText([bytes.toString()]), masked: true };
}

/** Returns base64 data with the secrets of the text in it masked. */
export function maskedBase64(data: string): string {
  const bytes = Buffer.from(data, 'base64');
  return isText(bytes) ? Buffer.from(scrubSecrets(bytes.toString())).toString('base64') : data;
}

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Returns the content of base64 data. Invalid base64 is kept as text, so that nothing is lost. */
export function base64Content(data: string): PartContent {
  return isBase64(data) ? { kind: 'base64', data } : textContent(data);
}

export function* encodedChunks(content: PartContent): Generator<Buffer> {
  if (content.kind !== 'base64') {
    for (const chunk of textChunks(content)) yield Buffer.from(chunk);
    return;
  }
  // Four characters are three bytes: a chunk ends between such groups.
  for (let start = 0; start < content.data.length; start += CHUNK_CHARS) {
    yield Buffer.from(content.data.slice(start, start + CHUNK_CHARS), 'base64');
  }
}

export function contentSize(content: PartContent): number {
  if (content.kind === 'base64') return Buffer.byteLength(content.data, 'base64');
  let size = 0;
  for (const chunk of textChunks(content)) size += Buffer.byteLength(chunk);
  return size;
}

function textChunks(content: TextContent): Iterable<string> {
  const chunks = content.kind === 'json' ? pythonJsonChunks(content.value) : content.text.chunks(CHUNK_CHARS);
  return content.masked ? scrubSecretChunks(chunks) : chunks;
}

export function contentBytes(content: PartContent): Buffer {
  return Buffer.concat([...encodedChunks(content)]);
}

export function isBase64(data: string): boolean {
  if (data.length % 4 !== 0) return false;
  for (let start = 0; start < data.length; start += CHUNK_CHARS) {
    const isLast = start + CHUNK_CHARS >= data.length;
    if (!(isLast ? LAST_GROUPS : GROUPS).test(data.slice(start, start + CHUNK_CHARS))) return false;
  }
  return true;
}

const GROUPS = /^[A-Za-z0-9+/]*$/;
const LAST_GROUPS = /^[A-Za-z0-9+/]*={0,2}$/;
