/** Matches addresses against RFC 6570 templates, as far as a reader needs it. Nothing is compiled to a pattern. */

type Piece = { text: string } | { variable: string; operator: string };

/** Length limit, above any template or address that a person would write. */
const MAX_TEMPLATE = 2_048;
const MAX_URI = 8_192;
const OPERATORS = '+#./;?&';

/** Returns the pieces of a template; undefined for invalid ones. */
function piecesOf(template: string): Piece[] | undefined {
  if (template.length > MAX_TEMPLATE) return undefined;
  const pieces: Piece[] = [];
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{', at);
    if (open !== at) pieces.push({ text: template.slice(at, open < 0 ? undefined : open) });
    if (open < 0) break;
    const close = template.indexOf('}', open);
    if (close < 0) return undefined;
    const inner = template.slice(open + 1, close);
    const operator = OPERATORS.includes(inner[0] ?? '') ? (inner[0] as string) : '';
    pieces.push({ variable: inner.slice(operator.length), operator });
    at = close + 1;
  }
  return pieces;
}

/**
 * Returns whether a template can expand to this address. A simple variable stands for text within one segment, a
 * variable with an operator for anything that follows; the query of `{?a,b}` may be missing.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  const pieces = piecesOf(template);
  if (uri.length > MAX_URI || pieces === undefined || !pieces.some((piece) => 'variable' in piece)) return false;
  // Places in the address where the pieces so far may end: linear in pieces times characters.
  let ends = new Set([0]);
  for (const piece of pieces) {
    const next = new Set<number>();
    if ('text' in piece) {
      for (const end of ends) if (uri.startsWith(piece.text, end)) next.add(end + piece.text.length);
    } else reach(uri, Math.min(...ends), ends, piece.operator, next);
    if (next.size === 0) return false;
    ends = next;
  }
  return ends.has(uri.length);
}

/** Adds the places where a variable may end that begins at any of `starts`. */
function reach(uri: string, from: number, starts: ReadonlySet<number>, operator: string, ends: Set<number>): void {
  let open = false;
  for (let at = from; at <= uri.length; at++) {
    if (open) ends.add(at);
    if (starts.has(at)) {
      open = true;
      // An expansion with an operator may be empty; no real address has an empty segment.
      if (operator !== '') ends.add(at);
    }
    if (operator === '' && '/?#'.includes(uri[at] ?? '')) open = false;
  }
}

/** Returns the names of the variables, for a reader of the template. */
export function variablesOf(template: string): string[] {
  return (piecesOf(template) ?? []).flatMap((piece) =>
    'variable' in piece ? piece.variable.split(',').map((name) => name.replace(/[*:].*$/, '')) : [],
  );
}
