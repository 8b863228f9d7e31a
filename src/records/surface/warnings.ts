import { isRecord } from '../../lib/isRecord.ts';
import { oneLine } from '../../text/porcelain.ts';
import { inBraces } from './boundedText.ts';
import { filled, type Json, recordsIn } from './values.ts';

const MAX_WARNINGS = 5;
const MAX_MESSAGE_CHARS = 160;

/** Returns the warnings of an envelope as lines: a model that reads no structured output must know them (R3.5). */
export function warningLines({ meta }: Json): string[] {
  const warnings = recordsIn(isRecord(meta) ? meta.warnings : undefined);
  const lines = warnings.slice(0, MAX_WARNINGS).map(({ code, param, message }) => {
    const about = filled(param) === undefined ? '' : ` param=${inBraces(param)}`;
    const words = filled(message) === undefined ? '' : `: ${oneLine(message as string, MAX_MESSAGE_CHARS)}`;
    return `warning code=${inBraces(code)}${about}${words}`;
  });
  const more = warnings.length - MAX_WARNINGS;
  return more > 0 ? [...lines, `more_warnings=${more}`] : lines;
}

/** Returns the envelope with one more warning. */
export function withWarning(envelope: Json, warning: Json): Json {
  const meta = isRecord(envelope.meta) ? envelope.meta : {};
  return { ...envelope, meta: { ...meta, warnings: [...recordsIn(meta.warnings), warning] } };
}
