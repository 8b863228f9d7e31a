/** Messages between the page of a table and the extension. Each side validates the messages of the other. */

/** Rows that the page asks for. Row 1 is the first one below the header. */
export interface TableQuery {
  start: number;
  /** Number of the column to sort by, from 0: names may be there twice. */
  sort?: number;
  descending?: boolean;
  /** Text that some column of a row contains. */
  contains?: string;
}

export interface TableState {
  title: string;
  query: TableQuery;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  /** Number of rows that match. */
  total: number;
  /** Why there is no table, or why it is old. */
  reason?: string;
  /** Data Wrangler is installed. */
  wrangler: boolean;
}

export const TABLE_PAGE_ROWS = 100;

export const TABLE_ACTIONS = ['copyCsv', 'copyMarkdown', 'saveAs', 'openWrangler'] as const;
export type TableAction = (typeof TABLE_ACTIONS)[number];

export type ToTable = { type: 'state'; state: TableState };
export type FromTable =
  | { type: 'ready' }
  | { type: 'query'; query: TableQuery }
  | { type: 'action'; action: TableAction };

/** Returns a well-formed message, or undefined for anything else. A page is never trusted. */
export function parseFromTable(message: unknown): FromTable | undefined {
  if (!isRecord(message)) return undefined;
  switch (message.type) {
    case 'ready':
      return { type: 'ready' };
    case 'action': {
      const action = TABLE_ACTIONS.find((known) => known === message.action);
      return action && { type: 'action', action };
    }
    case 'query': {
      const query = parseQuery(message.query);
      return query && { type: 'query', query };
    }
    default:
      return undefined;
  }
}

export function parseToTable(message: unknown): ToTable | undefined {
  if (!isRecord(message) || message.type !== 'state' || !isRecord(message.state)) return undefined;
  const { state } = message;
  const isWhole =
    typeof state.title === 'string' &&
    Array.isArray(state.columns) &&
    Array.isArray(state.rows) &&
    typeof state.total === 'number' &&
    parseQuery(state.query) !== undefined;
  return isWhole ? { type: 'state', state: state as unknown as TableState } : undefined;
}

function parseQuery(query: unknown): TableQuery | undefined {
  if (!isRecord(query)) return undefined;
  const { start, sort, descending, contains } = query;
  if (typeof start !== 'number' || !Number.isSafeInteger(start) || start < 1) return undefined;
  return {
    start,
    ...(typeof sort === 'number' && Number.isSafeInteger(sort) && { sort, descending: descending === true }),
    ...(typeof contains === 'string' && contains !== '' && { contains: contains.slice(0, 200) }),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
