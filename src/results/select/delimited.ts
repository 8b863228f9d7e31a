/** Parses text in rows and columns as in RFC 4180, with any delimiter. Quoted line breaks let a record span lines. */

const DELIMITERS = [',', '\t', ';', '|'] as const;
/** Limit of a record in lines. A longer one begins with a quotation mark that is never closed. */
export const MAX_RECORD_LINES = 200;

/** Returns whether a record is still open after this line. */
export function endsInQuote(line: string, delimiter: string, wasOpen: boolean): boolean {
  if (!line.includes('"')) return wasOpen;
  let open = wasOpen;
  let fieldStart = !wasOpen;
  for (let i = 0; i < line.length; i++) {
    const char = line[i];
    if (open) {
      if (char !== '"') continue;
      if (line[i + 1] === '"') i += 1;
      else open = false;
    } else {
      open = char === '"' && fieldStart;
      fieldStart = char === delimiter;
    }
  }
  return open;
}

/** Returns the fields of one record, with quotation marks resolved. */
export function fieldsOf(record: string, delimiter: string): string[] {
  const fields: string[] = [];
  for (let at = 0; ; ) {
    let field = '';
    if (record[at] === '"') {
      let close = at + 1;
      for (;;) {
        const quote = record.indexOf('"', close);
        if (quote === -1) {
          field += record.slice(close);
          close = record.length;
          break;
        }
        field += record.slice(close, quote);
        close = quote + 1;
        if (record[close] !== '"') break;
        field += '"';
        close += 1;
      }
      at = close;
    }
    const end = record.indexOf(delimiter, at);
    fields.push(field + record.slice(at, end === -1 ? record.length : end));
    if (end === -1) return fields;
    at = end + 1;
  }
}

export function toRecord(fields: readonly string[], delimiter: string): string {
  return fields
    .map((field) => (/["\r\n]/.test(field) || field.includes(delimiter) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(delimiter);
}

/** Joins lines to records. */
export function toRecords(lines: readonly string[], delimiter: string): string[] {
  const records: string[] = [];
  for (let i = 0; i < lines.length; ) {
    const count = recordLines(lines, i, delimiter);
    records.push(lines.slice(i, i + count).join('\n'));
    i += count;
  }
  return records;
}

/** Returns the number of lines of the record that begins at line `start`. */
function recordLines(lines: readonly string[], start: number, delimiter: string): number {
  let open = false;
  for (let i = start; i < lines.length && i - start < MAX_RECORD_LINES; i++) {
    open = endsInQuote(lines[i] as string, delimiter, open);
    if (!open) return i - start + 1;
  }
  return 1;
}

/**
 * Detects the delimiter that cuts all lines of a sample into the same number of fields, at least two. Prose has commas
 * too: the header of a table contains no sentence, and at least two rows follow.
 */
export function detectDelimiter(lines: readonly string[]): string | undefined {
  const filled = lines.filter((line) => line.trim() !== '');
  for (const delimiter of DELIMITERS) {
    const rows = toRecords(filled, delimiter).map((record) => fieldsOf(record, delimiter));
    const width = rows[0]?.length ?? 0;
    if (width < 2 || rows.length < 3 || !rows[0]?.every(isColumnName)) continue;
    const even = rows.filter((row) => row.length === width).length;
    if (even >= rows.length * 0.95) return delimiter;
  }
  return undefined;
}

/** Returns whether a field is a column name. The first may be empty, above the numbers of rows. */
function isColumnName(field: string, index: number): boolean {
  return (field.trim() !== '' || index === 0) && field.length <= 64 && !/[.!?{}<>]\s|[{}<>]$/.test(field);
}
