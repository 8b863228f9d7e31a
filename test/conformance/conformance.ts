/** Runs files of the form of `test/fixtures/conformance/gateway.json`: inputs, operations and expected outputs. */

export interface ConformanceCase {
  id: string;
  op: string;
  input: unknown;
  expected: unknown;
}

export interface ConformanceFile {
  groups: Record<string, ConformanceCase[]>;
}

/** Context of an operation besides its input. */
export interface OperationContext {
  expected: unknown;
  /** The whole file, because some groups share a fixture of another group. */
  file: ConformanceFile;
}

export interface Operation {
  /** Returns the result in the form of `expected`, so that the two can be compared as a whole. */
  run(input: unknown, context: OperationContext): unknown;
  /** Fields of `expected` that concern another program; each use states the reason. */
  ignoring?: readonly string[];
}

/** Operations by group and name: the same name can mean different things in different groups. */
export type OperationTable = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Case that contradicts docs/specification, with the rule that wins. The ruling covers every case of its `op`. */
export interface OverruledCase {
  id: string;
  op: string;
  /** Number in docs/specification. */
  rule: string;
  why: string;
}

export interface CaseResult {
  id: string;
  group: string;
  outcome: 'passed' | 'failed' | 'overruled';
  why: string;
}

export interface RunOptions {
  operations: OperationTable;
  overruled: readonly OverruledCase[];
  /** Groups to run; all if absent. */
  groups?: readonly string[] | undefined;
}

export async function runConformance(file: ConformanceFile, options: RunOptions): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const [group, cases] of Object.entries(file.groups)) {
    if (options.groups && !options.groups.includes(group)) continue;
    for (const one of cases) results.push({ id: one.id, group, ...(await judge(group, one, file, options)) });
  }
  return results;
}

async function judge(
  group: string,
  { op, input, expected }: ConformanceCase,
  file: ConformanceFile,
  { operations, overruled }: RunOptions,
): Promise<Pick<CaseResult, 'outcome' | 'why'>> {
  const ruling = overruled.find((entry) => entry.op === op);
  const operation = operations[group]?.[op];
  if (operation === undefined) return { outcome: 'failed', why: `not implemented: ${group} / ${op}` };
  let why: string | undefined;
  try {
    const actual = await operation.run(input, { expected, file });
    why = difference(without(expected, operation.ignoring ?? []), actual, '');
  } catch (error) {
    why = `threw ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
  }
  if (why === undefined) return { outcome: 'passed', why: '' };
  return ruling ? { outcome: 'overruled', why: `${ruling.rule}: ${ruling.why}` } : { outcome: 'failed', why };
}

const ANY = '<any>';

/** Describes the first difference of two values; undefined if they agree. `<any>` agrees with any string. */
export function difference(expected: unknown, actual: unknown, at: string): string | undefined {
  if (expected === ANY && typeof actual === 'string') return undefined;
  if (Object.is(expected, actual) || (expected === 0 && actual === 0)) return undefined;
  if (!isContainer(expected) || !isContainer(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
    return `${at || 'result'}: expected ${shown(expected)}, got ${shown(actual)}`;
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const found = difference(expected[key], actual[key], `${at}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object';
}

function without(value: unknown, fields: readonly string[]): unknown {
  if (fields.length === 0 || !isContainer(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !fields.includes(key)));
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 200 ? text : `${text.slice(0, 199)}…`;
}
