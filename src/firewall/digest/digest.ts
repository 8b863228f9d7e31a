import type { LongText } from '../longText.ts';
import type { Digest, DigestSource } from './digestSource.ts';
import { jsonDigest } from './jsonDigest.ts';
import { outlineJson } from './jsonOutline.ts';
import { textKind } from './kinds.ts';
import { jsonLinesDigest, linesDigest, logDigest } from './lineDigests.ts';
import { proseDigest } from './proseDigest.ts';
import { tableDigest } from './tableDigest.ts';

const SAMPLE_CHARS = 64 * 1024;
/** Several parts are joined for a look at their JSON only when that costs little. */
const JOIN_CHARS = 1 << 20;

/** A text too long to be shown, told by its kind (000 §4.2): faithful, deterministic, made without a model. */
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
  return outline && jsonDigest(outline, source);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
