import { isUtf8 } from 'node:buffer';
import type { ArtifactRow } from '../../control/artifactContract.ts';
import { groupDigits, oneLine } from '../../text/porcelain.ts';
import { visibleJson } from '../../text/visibleText.ts';
import { plural, t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';

/** Size up to which a result opens whole. VS Code gives extensions no document of more than 50 MB. */
export const MAX_WHOLE_BYTES = 5 * 1024 * 1024;
/** Size of a part of a larger result, and of one answer of the worker. */
export const PART_BYTES = 1024 * 1024;
/** Bytes that decide the kind of a result. */
export const SNIFFED_BYTES = 4_096;
export const DUMPED_BYTES = 64 * 1024;

const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'application/x-ndjson': 'jsonl',
  'application/xml': 'xml',
  'application/yaml': 'yaml',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/bmp': 'bmp',
  'image/svg+xml': 'svg',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/xml': 'xml',
  'text/yaml': 'yaml',
};
/** Extensions that VS Code shows as a picture or a sound. */
export const MEDIA_EXTENSIONS: readonly string[] = ['png', 'jpg', 'gif', 'webp', 'bmp', 'mp3', 'wav', 'ogg'];

const KIND_WORDS: Readonly<Record<string, string>> = {
  json: 'JSON',
  jsonl: t`JSON lines`,
  csv: 'CSV',
  tsv: 'TSV',
  md: 'Markdown',
  log: t`log`,
  txt: t`text`,
  bin: t`binary`,
  jpg: 'JPEG',
};

const LOG_LINE = /^\W{0,3}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d)/;

/** Returns the extension of a result's document by its media type, or for plain text by its beginning. */
export function extensionOf(mediaType: string, head: Uint8Array): string {
  const type = mediaType.replace(/;.*$/s, '').trim().toLowerCase();
  const known = Object.hasOwn(EXTENSIONS, type) ? EXTENSIONS[type] : undefined;
  if (known) return known;
  if (/\+json$/.test(type)) return 'json';
  if (!isText(head)) return 'bin';
  const text = Buffer.from(head).toString();
  if (/^\s*[[{]/.test(text)) return /^\s*\{.*\}\s*\n\s*\{/.test(text) ? 'jsonl' : 'json';
  const lines = text.split('\n', 20).filter((line) => line.trim() !== '');
  // The sample cuts its last line.
  if (head.length >= SNIFFED_BYTES && lines.length > 1) lines.pop();
  if (lines.length > 1 && lines.filter((line) => LOG_LINE.test(line)).length >= lines.length / 2) return 'log';
  if (isDelimited(lines)) return 'csv';
  return /^#{1,6} \S/m.test(text) && /^(?:[-*] |```|\d+\. )/m.test(text) ? 'md' : 'txt';
}

/** Returns the extension of a part. Half of a JSON value would be full of errors as JSON. */
export function partExtension(extension: string): string {
  return extension === 'json' ? 'jsonl' : extension;
}

/** True for text in UTF-8, which may be cut within its last character. */
export function isText(head: Uint8Array): boolean {
  if (head.includes(0)) return false;
  return [0, 1, 2, 3].some((cut) => isUtf8(head.subarray(0, Math.max(0, head.length - cut))));
}

export function isBinary(extension: string): boolean {
  return ['bin', 'pdf', 'zip', 'gz'].includes(extension);
}

/** Cuts a part behind its last line break, or before an incomplete character. */
export function cutEnd(bytes: Uint8Array): Uint8Array {
  const line = bytes.lastIndexOf(0x0a);
  if (line > 0) return bytes.subarray(0, line + 1);
  let end = bytes.length;
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      if (needed > back) end = bytes.length - back;
      break;
    }
    if (byte < 0x80) break;
  }
  return bytes.subarray(0, end);
}

/** Cuts the last part before its first whole line, or before its first whole character. */
export function cutStart(bytes: Uint8Array): Uint8Array {
  const line = bytes.indexOf(0x0a);
  if (line >= 0 && line < bytes.length - 1) return bytes.subarray(line + 1);
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] as number) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

/** Renders bytes as a hexdump, 16 bytes a line. */
export function hexdump(bytes: Uint8Array, size: number): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${hex.padEnd(47)}  ${text}`);
  }
  if (size > bytes.length)
    lines.push('', `… ${t`${groupDigits(size - bytes.length)} more bytes. Save As… writes all of it.`}`);
  return `${lines.join('\n')}\n`;
}

/** Formats a size: `812 bytes`, `274 KB`, `12.4 MB`. */
export function sizeWords(bytes: number): string {
  if (bytes < 1_024) return plural(bytes, t`1 byte`, t`${bytes} bytes`);
  const kilobytes = bytes / 1_024;
  if (kilobytes < 1_000) return `${kilobytes < 10 ? kilobytes.toFixed(1) : Math.round(kilobytes)} KB`;
  const megabytes = kilobytes / 1_024;
  return `${megabytes < 100 ? megabytes.toFixed(1) : Math.round(megabytes)} MB`;
}

export function kindWords(extension: string): string {
  return KIND_WORDS[extension] ?? extension.toUpperCase();
}

/** Title of the first lens above a result: size, kind and source, and the part that is shown. */
export function resultTitle(
  row: ArtifactRow,
  extension: string,
  shown?: { from: number; to: number },
): NotificationText {
  const isText = !shown && !isBinary(extension) && !MEDIA_EXTENSIONS.includes(extension);
  const kind = isText ? t`${kindWords(extension)}, ${groupDigits(row.lines)} lines` : kindWords(extension);
  const source = row.toolId ?? row.server;
  const from = source === undefined ? [] : [oneLine(source.replace(/#[0-9a-f]{8}$/, ''), 80)];
  const part = shown ? [t`from ${sizeWords(shown.from)} to ${sizeWords(shown.to)}`] : [];
  return notificationText`${[sizeWords(row.size), kind, ...from, ...part].join(' · ')}`;
}

/** Returns whether a result may be a table, by its kind. */
export function mayBeTable(extension: string): boolean {
  return ['json', 'jsonl', 'csv', 'tsv', 'txt'].includes(extension);
}

/** Returns the ready call of `tool_view` that reads a result. */
export function viewCall(handle: string, extension: string): string {
  const selector = extension === 'json' ? { type: 'json_path', path: '$[0:20]' } : { type: 'lines', start: 0, end: 80 };
  return `tool_view ${visibleJson({ handle, selector })}`;
}

function isDelimited(lines: readonly string[]): boolean {
  // In prose a space follows.
  if (lines.length < 2 || lines.every((line) => /[,;] /.test(line))) return false;
  return [',', ';', '\t'].some((delimiter) => {
    const counts = lines.map((line) => line.split(delimiter).length);
    return (counts[0] as number) > 1 && counts.every((count) => count === counts[0]);
  });
}
