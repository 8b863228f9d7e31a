import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../src/lib/isRecord.ts';
import type { Seen } from './resourceServer.ts';

/** Outcome of a case. */
export interface Observed {
  /** Result of the call, of `tools/list` or of `initialize`. */
  result: Readonly<Record<string, unknown>>;
  seen: readonly Seen[];
  exitCode?: number | undefined;
  stdout?: string;
  stderr?: string;
}

/** Returns why an expectation does not hold; undefined if it does. */
type Check = (wanted: never, observed: Observed) => string | undefined;

const textOf = ({ result }: Observed): string =>
  (Array.isArray(result.content) ? result.content : []).map((one: { text?: string }) => one.text ?? '').join('\n');
const bytesOf = (value: unknown): number =>
  Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
const json = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
const short = (value: unknown): string => json(value).slice(0, 200);
const toolsOf = ({ result }: Observed): Record<string, unknown>[] => (Array.isArray(result.tools) ? result.tools : []);
const namesOf = (observed: Observed): unknown[] => toolsOf(observed).map(({ name }) => name);
const propertiesOf = (tool: Record<string, unknown>): Record<string, Record<string, unknown>> =>
  (at(tool, '/inputSchema/properties') ?? {}) as Record<string, Record<string, unknown>>;
const check = (holds: boolean, why: () => string): string | undefined => (holds ? undefined : why());
const each = <T>(wanted: readonly T[], one: (item: T) => string | undefined): string | undefined =>
  wanted.map(one).find((why) => why !== undefined);

const containing =
  (source: (observed: Observed) => string, contains: boolean): Check =>
  (wanted: readonly string[], observed) =>
    each(wanted, (part) =>
      check(source(observed).includes(part) === contains, () =>
        contains
          ? `${json(part)} is missing in ${short(source(observed))}`
          : `${json(part)} is in ${short(source(observed))}`,
      ),
    );
const matching =
  (source: (observed: Observed) => string, matches: boolean): Check =>
  (wanted: readonly string[], observed) =>
    each(wanted, (pattern) =>
      check(
        new RegExp(pattern, 'i').test(source(observed)) === matches,
        () => `/${pattern}/ ${matches ? 'does not match' : 'matches'} ${short(source(observed))}`,
      ),
    );
const atMost =
  (source: (observed: Observed) => unknown): Check =>
  (wanted: number, observed) =>
    check(bytesOf(source(observed)) <= wanted, () => `${bytesOf(source(observed))} bytes, at most ${wanted} wanted`);
const equal =
  (source: (observed: Observed) => unknown): Check =>
  (wanted: unknown, observed) =>
    check(
      isDeepStrictEqual(source(observed), wanted),
      () => `expected ${short(wanted)}, got ${short(source(observed))}`,
    );

const structured = ({ result }: Observed): unknown => result.structuredContent;
const structuredJson = (observed: Observed): string => json(structured(observed));
/** Whether the text is the structured output as JSON. */
function mirrors(observed: Observed): boolean {
  return isDeepStrictEqual(parsed(textOf(observed)), structured(observed));
}

const resultJson = ({ result }: Observed): string => json(result);
const instructions = ({ result }: Observed): string => String(result.instructions ?? '');

/** Every expectation of the vocabulary, and those that follow from its forms. */
const CHECKS: Readonly<Record<string, Check>> = {
  is_error: equal(({ result }) => result.isError === true),
  error_code: equal((observed) => at(structured(observed), '/error/code')),
  structured: (wanted: readonly [string, string, unknown][], observed) =>
    each(wanted, ([pointer, op, value]) => holds(at(structured(observed), pointer), op, value, pointer)),
  structured_max_bytes: atMost(structured),
  structured_equals: equal(structured),
  structured_keys: (wanted: readonly string[], observed) => equalSets(Object.keys(structured(observed) ?? {}), wanted),
  structured_absent: equal((observed) => structured(observed) === undefined),
  structured_json_contains: containing(structuredJson, true),
  structured_json_not_contains: containing(structuredJson, false),
  result_contains: containing(resultJson, true),
  result_not_contains: containing(resultJson, false),
  text_contains: containing(textOf, true),
  text_not_contains: containing(textOf, false),
  text_matches: matching(textOf, true),
  text_not_matches: matching(textOf, false),
  text_equals: equal(textOf),
  text_max_bytes: atMost(textOf),
  text_json: (wanted: readonly [string, string, unknown][], observed) =>
    each(wanted, ([pointer, op, value]) => holds(at(parsed(textOf(observed)), pointer), op, value, pointer)),
  text_mirrors_structured: equal(mirrors),
  rs_calls: (wanted: readonly Call[], { seen }) =>
    check(isDeepStrictEqual(seen.map(callOf), wanted.map(callOf)), () => `requests were ${short(seen.map(callOf))}`),
  rs_calls_last: (wanted: Call, { seen }) =>
    check(
      isDeepStrictEqual(seen.slice(-1).map(callOf), [callOf(wanted)]),
      () => `requests were ${short(seen.map(callOf))}`,
    ),
  rs_calls_first: (wanted: Call, { seen }) =>
    check(
      isDeepStrictEqual(seen.slice(0, 1).map(callOf), [callOf(wanted)]),
      () => `requests were ${short(seen.map(callOf))}`,
    ),
  rs_call_count: equal(({ seen }) => seen.length),
  rs_query_absent: (wanted: readonly string[], { seen }) =>
    each(wanted, (key) =>
      check(
        seen.every(({ query }) => !(key in query)),
        () => `a request has the parameter ${key}`,
      ),
    ),
  rs_query_present: (wanted: readonly string[], { seen }) =>
    each(wanted, (key) =>
      check(
        seen.some(({ query }) => key in query),
        () => `no request has the parameter ${key}`,
      ),
    ),
  rs_path_present: (wanted: readonly string[], { seen }) =>
    each(wanted, (path) =>
      check(
        seen.some((one) => one.path === path),
        () => `no request of ${path}`,
      ),
    ),
  rs_path_absent: (wanted: readonly string[], { seen }) =>
    each(wanted, (path) =>
      check(
        seen.every((one) => one.path !== path),
        () => `a request of ${path}`,
      ),
    ),
  rs_headers: (wanted: Record<string, string>, { seen }) =>
    each(Object.entries(wanted), ([name, value]) =>
      check(
        seen.length > 0 && seen.every(({ headers }) => headers[name.toLowerCase()] === value),
        () => `the header ${name} was ${short(seen.map(({ headers }) => headers[name.toLowerCase()]))}`,
      ),
    ),
  tool_names: (wanted: readonly string[], observed) => equalSets(namesOf(observed), wanted),
  tool_names_absent: (wanted: readonly string[], observed) =>
    each(wanted, (name) => check(!namesOf(observed).includes(name), () => `there is a tool ${name}`)),
  tools_json_contains: containing(({ result }) => json(result.tools), true),
  tools_json_not_contains: containing(({ result }) => json(result.tools), false),
  tools_json_matches: matching(({ result }) => json(result.tools), true),
  tools_json_not_matches: matching(({ result }) => json(result.tools), false),
  description_contains: (wanted: Record<string, readonly string[]>, observed) =>
    each(Object.entries(wanted), ([name, parts]) => {
      const description = String(toolsOf(observed).find((tool) => tool.name === name)?.description);
      return each(parts, (part) => check(description.includes(part), () => `${name} does not mention ${json(part)}`));
    }),
  tools_json_max_bytes: atMost(({ result }) => result.tools),
  every_tool: (wanted: Record<string, unknown>, observed) =>
    each(toolsOf(observed), (tool) =>
      each(Object.entries(wanted), ([pointer, value]) =>
        check(
          isDeepStrictEqual(at(tool, pointer), value),
          () => `${tool.name} has ${pointer} ${short(at(tool, pointer))}`,
        ),
      ),
    ),
  every_tool_has: (wanted: readonly string[], observed) =>
    each(toolsOf(observed), (tool) =>
      each(wanted, (pointer) => check(at(tool, pointer) !== undefined, () => `${tool.name} has no ${pointer}`)),
    ),
  every_tool_has_property: (wanted: readonly string[], observed) =>
    each(toolsOf(observed), (tool) =>
      each(wanted, (name) => check(name in propertiesOf(tool), () => `${tool.name} has no property ${name}`)),
    ),
  no_tool_has_property: (wanted: readonly string[], observed) =>
    each(toolsOf(observed), (tool) =>
      each(wanted, (name) => check(!json(tool.inputSchema).includes(`"${name}"`), () => `${tool.name} has ${name}`)),
    ),
  property_maximum: (wanted: readonly [string, string, number][], observed) =>
    each(wanted, ([name, property, maximum]) => {
      const tool = toolsOf(observed).find((one) => one.name === name);
      const given = tool && propertiesOf(tool)[property]?.maximum;
      return check(given === maximum, () => `${name}.${property} has the maximum ${short(given)}`);
    }),
  property_enum: (wanted: readonly [string, string, unknown][], observed) =>
    each(wanted, ([name, property, values]) => {
      const tool = toolsOf(observed).find((one) => one.name === name);
      const given = tool && propertiesOf(tool)[property]?.enum;
      return check(isDeepStrictEqual(given, values), () => `${name}.${property} allows ${short(given)}`);
    }),
  required: (wanted: Record<string, readonly string[]>, observed) =>
    each(Object.entries(wanted), ([name, properties]) => {
      const tool = toolsOf(observed).find((one) => one.name === name);
      return equalSets((at(tool, '/inputSchema/required') as unknown[]) ?? [], properties);
    }),
  max_repeated_description: (wanted: number, observed) => repeated(observed, wanted),
  instructions_prefix_512_contains: containing((observed) => instructions(observed).slice(0, 512), true),
  instructions_contains: containing(instructions, true),
  instructions_not_contains: containing(instructions, false),
  instructions_matching: matching(instructions, true),
  instructions_not_matching: matching(instructions, false),
  instructions_max_chars: (wanted: number, observed) =>
    check(instructions(observed).length <= wanted, () => `${instructions(observed).length} characters`),
  exit_code: equal(({ exitCode }) => exitCode),
  stdout_empty: equal(({ stdout }) => stdout === ''),
  stdout_not_contains: containing(({ stdout = '' }) => stdout, false),
  stderr_contains: containing(({ stderr = '' }) => stderr, true),
  stderr_not_contains: containing(({ stderr = '' }) => stderr, false),
  stderr_matches: matching(({ stderr = '' }) => stderr, true),
};

/** Returns the first expectation that does not hold. An unknown one never holds. */
export function firstFailure(expect: Readonly<Record<string, unknown>>, observed: Observed): string | undefined {
  for (const [name, wanted] of Object.entries(expect)) {
    const run = CHECKS[name] ?? (isMirror(name) ? CHECKS.text_mirrors_structured : undefined);
    const why = run ? run(wanted as never, observed) : 'this runner does not know the expectation';
    if (why !== undefined) return `${name}: ${why}`;
  }
  return undefined;
}

/** Whether a name says in other words that the text mirrors the structured output. */
function isMirror(name: string): boolean {
  return /^(?:text|content)_\w*(?:mirror|json)/.test(name);
}

function holds(value: unknown, op: string, wanted: unknown, pointer: string): string | undefined {
  const why = (): string => `${pointer || 'structuredContent'} ${op} ${short(wanted)}, got ${short(value)}`;
  switch (op) {
    case 'equals':
      return check(isDeepStrictEqual(value, wanted), why);
    case 'absent':
      return check(value === undefined, why);
    case 'exists':
      return check(value !== undefined, why);
    case 'type':
      return check(typeOf(value) === wanted, why);
    case 'length':
      return check((value as { length?: unknown } | undefined)?.length === wanted, why);
    case 'max_length':
      return check(
        ((value as { length?: number } | undefined)?.length ?? Number.POSITIVE_INFINITY) <= Number(wanted),
        why,
      );
    case 'matches':
      return check(value !== undefined && new RegExp(String(wanted), 'i').test(textual(value)), why);
    case 'not_matches':
      return check(value === undefined || !new RegExp(String(wanted), 'i').test(textual(value)), why);
    case 'keys':
      return isRecord(value) ? equalSets(Object.keys(value), wanted as string[]) : why();
    default:
      return `this runner does not know the operation ${op}`;
  }
}

function textual(value: unknown): string {
  return typeof value === 'string' ? value : json(value);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Resolves a JSON pointer. */
function at(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined | null)?.[key], value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function equalSets(given: readonly unknown[], wanted: readonly string[]): string | undefined {
  return check(
    isDeepStrictEqual([...given].sort(), [...wanted].sort()),
    () => `expected ${short(wanted)}, got ${short(given)}`,
  );
}

interface Call {
  path: string;
  query?: Readonly<Record<string, string | readonly string[]>>;
}

/** Brings a request into the form of a case. A list of fields may be one value with commas. */
function callOf({ path, query = {} }: Call): object {
  const entries = Object.entries(query).map(([key, given]): [string, readonly string[]] => {
    const values = typeof given === 'string' ? [given] : given;
    return [key, key === 'fields' ? values.flatMap((value) => value.split(',')) : values];
  });
  return { path, query: Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

const LONG_DESCRIPTION = 200;

/** Finds a long description that occurs too often in the tools. */
function repeated(observed: Observed, most: number): string | undefined {
  const counts = new Map<string, number>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) visit(one);
    else if (isRecord(value)) {
      for (const [key, member] of Object.entries(value)) {
        if (key === 'description' && typeof member === 'string' && member.length > LONG_DESCRIPTION) {
          counts.set(member, (counts.get(member) ?? 0) + 1);
        } else visit(member);
      }
    }
  };
  visit(toolsOf(observed));
  const worst = [...counts].find(([, count]) => count > most);
  return worst && `${worst[1]} places have the description ${short(worst[0])}`;
}
