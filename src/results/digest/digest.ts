import type { LongText } from '../../text/longText.ts';
import { count } from '../../text/porcelain.ts';
import { type Digest, type DigestSource, size } from './digestSource.ts';
import { jsonDigest } from './jsonDigest.ts';
import { outlineJson } from './jsonOutline.ts';
import { textKind } from './kinds.ts';
import { jsonLinesDigest, linesDigest, logDigest } from './lineDigests.ts';
import { proseDigest } from './proseDigest.ts';
import { tableDigest } from './tableDigest.ts';
import { outlineValue } from './valueOutline.ts';

const SAMPLE_CHARS = 64 * 1024;
/** Size limit for joining several parts to inspect their JSON. */
const JOIN_CHARS = 1 << 20;

/** Makes a digest that suits the kind of a long text: faithful, deterministic, without a model (M2.10). */
export async function digest(text: LongText, room: number): Promise<Digest> {
  const sample = text.head(SAMPLE_CHARS);
  const source: DigestSource = { text, sample, isWhole: sample.length === text.length, room, turn };
  const json = await asJson(source);
  if (json) return json;
  const kind = textKind(sample, source.isWhole);
  switch (kind.kind) {
    case 'json lines':
      return jsonLinesDigest(source);
    case 'table':
      return tableDigest(source, kind);
    case 'log':
      return logDigest(source);
    case 'prose':
      return proseDigest(source);
    default:
      return linesDigest(source);
  }
}

async function asJson(source: DigestSource): Promise<Digest | undefined> {
  const isJson = /^\s*[{[]/.test(source.sample) && (source.text.isFlat || source.text.length <= JOIN_CHARS);
  if (!isJson) return undefined;
  const outline = await outlineJson(source.text.toString(), turn);
  return outline && jsonDigest(outline, size(source.text), source.text.length, source.room);
}

/** Input of a digest: a text, or a value with its size as JSON. */
export type Readable = LongText | { value: object; bytes: number };

export async function digestOf(readable: Readable, room: number): Promise<Digest> {
  if (!('value' in readable)) return digest(readable, room);
  return jsonDigest(outlineValue(readable.value), count(readable.bytes, 'byte'), readable.bytes, room);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
