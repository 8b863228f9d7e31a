/** Values as the specification's first implementation prints them: the forms that its cases pin (001). */

/** `str(value)`: `True`, `None`, `[1, 'a']`. */
export function pythonText(value: unknown): string {
  return typeof value === 'string' ? value : representation(value);
}

function representation(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    const escaped = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
    return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
  }
  if (Array.isArray(value)) return `[${value.map(representation).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, item]) => `${representation(key)}: ${representation(item)}`)
      .join(', ')}}`;
  }
  return String(value);
}

/** `json.dumps(value, sort_keys=True, ensure_ascii=False)`: a blank behind each comma and colon. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${sortedEntries(value)
      .map(([key, item]) => `${JSON.stringify(key)}: ${pythonJson(item)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** By code point: UTF-16 order differs beyond the basic plane. */
export function sortedEntries(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => compareCodePoints(a, b));
}

function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
