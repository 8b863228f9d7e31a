/**
 * Generates parts of the documentation from the code. `npm run docs` writes the parts between marks in files that are
 * otherwise written by hand, and a test fails if a part is stale.
 */

/**
 * @typedef {{
 *   type?: string | string[], pattern?: string, enum?: unknown[], default?: unknown, items?: Schema, $ref?: string,
 *   description?: string, markdownDescription?: string,
 *   properties?: Record<string, Schema>, additionalProperties?: Schema | boolean,
 * }} Schema
 * @typedef {Schema & { properties: Record<string, Schema>, definitions: Record<string, Schema> }} RootSchema
 * @typedef {{ key: string, schema: Schema }} Row
 */

/**
 * Text of `media/waygate.schema.json`, by which editors complete waygate.json: one line per key without keys of its own.
 * @param {object} schema
 */
export function schemaText(schema) {
  const isLeaf = (/** @type {string} */ json) => !/"(properties|items|additionalProperties)":\{|"\$schema"/.test(json);
  const written = (/** @type {unknown} */ value, /** @type {string} */ indent) => {
    const json = JSON.stringify(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value) || isLeaf(json)) return json;
    const inner = `${indent}  `;
    /** @type {string[]} */
    const lines = Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .map(([key, one]) => `${inner}${JSON.stringify(key)}: ${written(one, inner)}`);
    return `{\n${lines.join(',\n')}\n${indent}}`;
  };
  return `${written(schema, '')}\n`;
}

/** Keywords that complete and explain, and refuse nothing. */
const EXPLAINING = ['$ref', 'title', 'description', 'markdownDescription', 'default', 'defaultSnippets'];

/**
 * Makes the schema for VS Code's own JSON support out of the published one. It completes and explains the same keys and
 * finds no mistake, because Waygate reports every mistake itself: once, with what follows from it.
 * @param {object} published
 */
export function editorSchema(published) {
  /** @type {(given: Record<string, any>) => Record<string, unknown>} */
  const lenient = (given) => {
    const kept = Object.fromEntries(EXPLAINING.filter((key) => key in given).map((key) => [key, given[key]]));
    const { type, anyOf = [], properties, definitions, additionalProperties: each, items } = given;
    const values = [given, ...anyOf].find((one) => one.enum)?.enum;
    const inner = (/** @type {Record<string, any>} */ schemas) =>
      Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, lenient(schema)]));
    const empty = type === 'object' ? {} : type === 'array' ? [] : undefined;
    return {
      ...kept,
      // VS Code inserts it with a new key.
      ...(empty && !('default' in kept) && { default: empty }),
      ...(properties && { properties: inner(properties) }),
      ...(typeof each === 'object' && { additionalProperties: lenient(each) }),
      ...(items && { items: lenient(items) }),
      // Proposes these values and accepts any.
      ...((type || values) && { anyOf: [{ ...(type && { type }), ...(values && { enum: values }) }, {}] }),
      ...(definitions && { definitions: inner(definitions) }),
    };
  };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    allowComments: true,
    allowTrailingCommas: true,
    ...lenient(published),
  };
}

/**
 * Makes the table of the keys of waygate.json, by block.
 * @param {object} schema of the whole file
 */
export function configurationKeys(schema) {
  const root = /** @type {RootSchema} */ (schema);
  const follow = (/** @type {Schema} */ one) =>
    one.$ref ? /** @type {Schema} */ (root.definitions[one.$ref.split('/').at(-1) ?? '']) : one;
  /** @type {(schema: Schema, path: string) => Row[]} */
  const rowsOf = (given, path) => {
    const own = follow(given);
    const keys = Object.entries(own.properties ?? {}).flatMap(([name, child]) => {
      const key = path === '' ? name : `${path}.${name}`;
      return [{ key, schema: child }, ...rowsOf(child, key)];
    });
    const { additionalProperties: each, items } = own;
    return [
      ...keys,
      ...(typeof each === 'object' ? rowsOf(each, `${path}.NAME`) : []),
      ...(items ? rowsOf(items, `${path}[]`) : []),
    ];
  };
  const blocks = Object.entries(root.properties).map(([name, schema]) => ({
    name,
    schema,
    rows: rowsOf(schema, name),
  }));
  const single = blocks.filter(({ rows }) => rows.length === 0).map(({ name, schema }) => ({ key: name, schema }));
  return [
    '### Single keys',
    '',
    ...keyTable(single),
    ...blocks
      .filter(({ rows }) => rows.length > 0)
      .flatMap(({ name, schema, rows }) => ['', `### \`${name}\``, '', meaningOf(schema), '', ...keyTable(rows)]),
  ].join('\n');
}

/** @param {readonly Row[]} rows */
function keyTable(rows) {
  const lines = rows.map(({ key, schema }) => {
    const standard = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
    return `| \`${key}\` | ${valuesOf(schema)} | ${standard} | ${cell(meaningOf(schema))} |`;
  });
  return ['| key | value | default | meaning |', '| --- | --- | --- | --- |', ...lines];
}

/** @param {Schema} schema */
function meaningOf(schema) {
  return schema.markdownDescription ?? schema.description ?? '';
}

/** @type {Readonly<Record<string, string>>} */
const TYPE_WORDS = {
  string: 'text',
  integer: 'whole number',
  array: 'list',
  boolean: '`true`, `false`',
  null: '`null`',
};

/** @param {Schema} schema */
function valuesOf(schema) {
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const [first = 'object', ...others] = [schema.type ?? []].flat();
  // A template may write a number or a flag as text, and an empty list as an object; nobody has to know.
  const types = [first, ...others.filter((type) => !(type === 'string' && schema.pattern) && type !== 'object')];
  return types.map((type) => TYPE_WORDS[type] ?? type).join(' or ');
}

/**
 * Makes the table of the faults in `src/errors/faultCodes.ts`, by class.
 * @param {Readonly<Record<string, import('../../src/errors/faultCodes.ts').FaultTraits>>} codes
 */
export function faultTable(codes) {
  const lines = Object.entries(codes).map(([code, { class: name, says, error, retryable, remedy }]) => {
    const heals = remedy === 'time' ? '' : remedy === 'sign_in' ? 'a sign-in' : 'another configuration';
    return `| \`${name}/${code}\` | ${cell(says)} | \`${error}\` | ${retryable ? 'yes' : 'no'} | ${heals} |`;
  });
  return [
    '| fault | the server … | error code | retryable | waits for |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

/**
 * Makes the table of the rules that correct arguments.
 * @param {Readonly<Record<string, { reads: string, as: string, where: string }>>} normalisations
 * @param {Readonly<Record<string, { reads: string, as: string }>>} repairs
 */
export function ruleTable(normalisations, repairs) {
  const where = 'arguments of servers’ tools, at every depth, with `tolerantArgs`';
  const rules = [
    ...Object.entries(normalisations),
    ...Object.entries(repairs).map(([name, rule]) => [name, { ...rule, where }]),
  ];
  const lines = /** @type {[string, { reads: string, as: string, where: string }][]} */ (rules).map(
    ([name, rule]) => `| \`${name}\` | ${cell(rule.reads)} | ${cell(rule.as)} | ${cell(rule.where)} |`,
  );
  return ['| rule | what is written | is read as | where |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll('|', '\\|');
}

const BEGIN = '<!-- made by npm run docs: begin -->';
const END = '<!-- made by npm run docs: end -->';

/**
 * Returns the document with a new generated part.
 * @param {string} document
 * @param {string} part
 */
export function withGenerated(document, part) {
  const [from, to] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`The document lacks its marks: ${BEGIN} … ${END}`);
  return `${document.slice(0, from + BEGIN.length)}\n${part}\n${document.slice(to)}`;
}
