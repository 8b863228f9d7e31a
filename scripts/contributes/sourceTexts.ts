import { globSync, readFileSync } from 'node:fs';
import { parseAst } from 'vitest/node';
import { SERVER_STATES } from '../../src/control/serverStates.ts';
import { COMMANDS } from '../../src/extension/contributions.ts';
import { ODDITIES } from '../../src/mcp/wire/oddities.ts';
import { hasWords, messageOf } from '../../src/text/messages.ts';
import { SCAN_RULES } from '../../src/trust/scan/finding.ts';

/** Tags that translate their template (`src/extension/l10n.ts`, `src/extension/notificationText.ts`, `webview/l10n.ts`). */
const TAGS = ['t', 'notificationText', 'markdownText'];

/** Words of tables that other programs share, which the extension passes to `translated`. */
const TABLES: readonly (readonly string[])[] = [
  Object.values(COMMANDS).map(({ title }) => title),
  Object.values(SERVER_STATES).map(({ words }) => words),
  Object.values(SCAN_RULES),
  Object.values(ODDITIES),
];

/** Source files with texts of the extension and of its pages. */
export const TEXT_SOURCES: readonly string[] = globSync('{src/extension,webview}/**/*.ts')
  .map((file) => file.replaceAll('\\', '/'))
  .sort();

/** Returns the contents of `l10n/bundle.l10n.json`: every text of the sources, by itself. */
export function bundleTexts(): Record<string, string> {
  const found = TEXT_SOURCES.flatMap((file) => translatedTexts(readFileSync(file, 'utf8')));
  const texts = [...new Set([...found, ...TABLES.flat()])].sort();
  return Object.fromEntries(texts.map((text) => [text, text]));
}

/** Returns the messages of a source that a tag translates. */
export function translatedTexts(source: string): string[] {
  return stringsOf(source)
    .filter(({ tag }) => tag !== undefined && TAGS.includes(tag))
    .map(({ parts }) => messageOf(parts))
    .filter(hasWords);
}

export interface RawText {
  line: number;
  text: string;
}

/** Returns the strings of a source that look like words for a person and that no tag translates. */
export function rawTexts(source: string): RawText[] {
  return stringsOf(source)
    .filter((string) => string.tag === undefined && !isForProgram(string) && looksLikeText(string))
    .map(({ start, parts }) => ({ line: source.slice(0, start).split('\n').length, text: parts.join('…') }));
}

interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

/** String or template of a source. */
interface SourceString {
  start: number;
  /** Text between the values. */
  parts: readonly string[];
  tag: string | undefined;
  node: Node;
  /** Nodes around it, the closest first. */
  around: readonly Node[];
}

function stringsOf(source: string): SourceString[] {
  const found: SourceString[] = [];
  const visit = (node: unknown, around: readonly Node[]): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, around);
    if (!isNode(node) || /^(?:Import|Export(?:All|Named)|TSLiteral|TSTypeAlias|TSInterface)/.test(node.type)) {
      // A declaration that is exported has texts like any other.
      if (isNode(node) && node.type === 'ExportNamedDeclaration') visit(node.declaration, around);
      return;
    }
    const parts = partsOf(node);
    if (parts) found.push({ start: node.start, parts, tag: tagOf(around[0]), node, around });
    for (const [field, inner] of Object.entries(node)) if (field !== 'parent') visit(inner, [node, ...around]);
  };
  visit(parseAst(source, { lang: 'ts' }), []);
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function partsOf(node: Node): string[] | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : undefined;
  if (node.type !== 'TemplateLiteral') return undefined;
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked);
}

function tagOf(parent: Node | undefined): string | undefined {
  return parent?.type === 'TaggedTemplateExpression' ? String((parent.tag as Node).name) : undefined;
}

/** Methods of logs, and functions whose argument is a name. */
const PROGRAM_CALLS = /^(?:log|error|warn|info|debug|executeCommand|querySelector(?:All)?|closest|getExtension)$/;
const PROGRAM_FIELDS = /^(?:class|command|contextValue|id|icon|kind|when|action)$/;

/** True for a key, for an operand of a comparison, and for what a program reads. */
function isForProgram({ node, around }: SourceString): boolean {
  const [parent] = around;
  if (parent === undefined || parent.type === 'MemberExpression' || parent.type === 'SwitchCase') return true;
  if (parent.type === 'BinaryExpression' && /^(?:[=!]==?|in)$/.test(String(parent.operator))) return true;
  if (parent.type === 'Property' && parent.key === node) return true;
  const { role } = roleOf(node, around);
  return (
    role !== undefined && (role.startsWith('call:') ? PROGRAM_CALLS.test(role.slice(5)) : PROGRAM_FIELDS.test(role))
  );
}

/** Fields whose value VS Code or a page shows, also if it is one word. */
const SHOWN_FIELDS =
  /^(?:label|title|description|detail|tooltip|placeHolder|placeholder|prompt|message|words|says|button|headline|accessibilityLabel|aria-label|none|term|note|reason|sentence|caption)$/;
/** Functions with arguments that are shown, from the given place. */
const SHOWN_ARGUMENTS: Readonly<Record<string, number>> = { button: 0, el: 2, need: 1, Error: 0, EditRefused: 0 };

/** Stands for a value of a template. */
const VALUE = '¤';

function looksLikeText(string: SourceString): boolean {
  const { node, around, parts } = string;
  const text = parts.join(VALUE);
  const words = text.trimStart().startsWith('<') ? shownMarkup(parts) : text;
  // Words with a space between them, or a capitalised word.
  if (/\p{L}{2,}[\p{L}¤"'’.,:;!?…)]*\s+["'(¤]*\p{L}/u.test(words) || /^\p{Lu}\p{Ll}+…?$/u.test(words)) return true;
  // A heading, or a number with a unit or a noun.
  if (/^#+ \p{L}/u.test(words)) return true;
  if (/(?:^|\s)¤ \p{L}{3,}|\p{L}{3,}:? ¤/u.test(words)) return true;
  const { role, index } = roleOf(node, around);
  if (role === undefined || !/^[\p{L} ¤…]*\p{L}{2,}[\p{L} ¤…]*$/u.test(words)) return false;
  if (SHOWN_FIELDS.test(role)) return true;
  const from = SHOWN_ARGUMENTS[role.replace('call:', '')];
  return role.startsWith('call:') && from !== undefined && index >= from;
}

/** Returns what a reader sees or hears of markup: its text, and its attributes with words. */
function shownMarkup(parts: readonly string[]): string {
  const markup = parts.join(VALUE).replace(/<svg[\s\S]*?<\/svg>|<path[^>]*>|<rect[^>]*>/g, '');
  const attributes = [...markup.matchAll(/\b(?:aria-label|title|placeholder|alt|data-label)="([^"]*)"/g)];
  const texts = markup.replace(/<[^>]*>?/g, '\n').split('\n');
  const shown = [...attributes.map(([, value = '']) => value), ...texts].map((one) => one.replaceAll(VALUE, '').trim());
  // Behind a letter, so that one word counts too.
  return shown
    .filter((one) => /\p{L}{2,}/u.test(one) && one !== 'Waygate')
    .map((one) => `shown ${one}`)
    .join('\n');
}

/** Returns the field or the called function for which a string is a value, through conditions and alternatives. */
function roleOf(node: Node, around: readonly Node[]): { role?: string; index: number } {
  let inner = node;
  for (const outer of around) {
    if (outer.type === 'Property') return { role: nameOf(outer.key as Node), index: 0 };
    if (outer.type === 'CallExpression' || outer.type === 'NewExpression') {
      const index = (outer.arguments as Node[]).indexOf(inner);
      return { role: `call:${nameOf(outer.callee as Node)}`, index };
    }
    if (!/^(?:Conditional|Logical|TSAs|TSSatisfies|Parenthesized)Expression$/.test(outer.type)) return { index: 0 };
    inner = outer;
  }
  return { index: 0 };
}

function nameOf(node: Node): string {
  if (node.type === 'MemberExpression') return nameOf(node.property as Node);
  return String(node.name ?? node.value ?? '');
}
