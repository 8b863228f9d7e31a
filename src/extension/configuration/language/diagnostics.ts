import * as vscode from 'vscode';
import { isWithin, MAX_CONFIG_BYTES, readBounded } from '../../../lib/readBounded.ts';
import { EXTENSION_TITLE } from '../../contributions.ts';
import { logPlace } from '../../documents/addresses.ts';
import { notificationText } from '../../notificationText.ts';
import { toRange } from '../../tree/toolsTree.ts';
import type { LanguageParts } from './configurationLanguage.ts';
import { type ConfigurationText, pieceAt, readText } from './configurationText.ts';
import { type EditorProblem, editorProblems } from './problems.ts';

const SEVERITIES: Record<EditorProblem['severity'], vscode.DiagnosticSeverity> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
};

const JSON_SUPPORT = 'vscode.json-language-features';

/** Page with a section on each kind of problem, under the code as a heading. */
export interface Explanations {
  page: vscode.Uri;
  text: string;
}

/** Problems of the configuration and of its servers, in the Problems view and under their text. */
export class ConfigurationDiagnostics implements vscode.Disposable {
  readonly #folder: string;
  readonly #collection: vscode.DiagnosticCollection;
  readonly #problems = new WeakMap<vscode.Diagnostic, EditorProblem>();
  readonly #gateway: LanguageParts['gateway'];
  readonly #scanned: LanguageParts['scanned'];
  readonly #isFirstServed: () => boolean;
  readonly #watching: vscode.Disposable;
  readonly #explanations: Explanations;
  #shown = '';

  constructor(
    { folder, gateway, scanned, isFirstServed }: Omit<LanguageParts, 'link' | 'secrets' | 'page'>,
    explanations: Explanations,
  ) {
    this.#folder = folder;
    this.#collection = vscode.languages.createDiagnosticCollection(folder);
    this.#gateway = gateway;
    this.#scanned = scanned;
    this.#isFirstServed = isFirstServed;
    this.#explanations = explanations;
    const update = (): void => this.#update();
    this.#watching = vscode.Disposable.from(
      gateway.onChange(update),
      scanned.onChange(update),
      vscode.workspace.onDidOpenTextDocument(update),
      vscode.workspace.onDidCloseTextDocument(update),
    );
    update();
  }

  /** Returns the problem that a diagnostic shows. */
  problemOf(diagnostic: vscode.Diagnostic): EditorProblem | undefined {
    return this.#problems.get(diagnostic);
  }

  dispose(): void {
    this.#watching.dispose();
    this.#collection.dispose();
  }

  #update(): void {
    const { link } = this.#gateway.value;
    // Keep the last problems while a worker is replaced.
    if (link.kind !== 'attached' && link.kind !== 'off') return;
    const { workspace } = link.kind === 'attached' ? link.snapshot : { workspace: '' };
    const problems = link.kind === 'attached' ? editorProblems(link.snapshot, this.#scanned.value) : [];
    const concerns = ({ location }: EditorProblem): boolean =>
      this.#isFirstServed() || isWithin(workspace, location.file);
    const shown = problems.filter((problem) => concerns(problem) && !isMarkedByJson(problem, workspace));
    const key = JSON.stringify(shown.map(({ server, ...problem }) => [problem, server?.stderr]));
    if (key === this.#shown) return;
    this.#shown = key;
    const texts = new Map<string, ConfigurationText | undefined>();
    const byFile = new Map<string, [vscode.Uri, vscode.Diagnostic[]]>();
    for (const problem of shown) {
      const { file } = problem.location;
      if (!texts.has(file)) texts.set(file, textOf(file));
      const { uri, diagnostic } = diagnosticOf(problem, workspace, this.#folder, texts.get(file));
      diagnostic.code = { value: problem.code, target: sectionOn(problem.code, this.#explanations) };
      this.#problems.set(diagnostic, problem);
      const [, all] = byFile.get(uri.toString()) ?? [uri, []];
      byFile.set(uri.toString(), [uri, [...all, diagnostic]]);
    }
    this.#collection.clear();
    for (const [uri, all] of byFile.values()) this.#collection.set(uri, all);
  }
}

/** VS Code itself marks an error of the syntax in an open file, where it is and while the user types. */
function isMarkedByJson({ code, location }: EditorProblem, workspace: string): boolean {
  if (code !== 'syntax' || !vscode.extensions.getExtension(JSON_SUPPORT)) return false;
  if (!vscode.workspace.getConfiguration('json').get('validate.enable', true)) return false;
  const uri = toRange(location, workspace).uri.toString();
  return vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri);
}

/** Reads the text of a file as the worker has read it; the text in an editor may differ. */
function textOf(file: string): ConfigurationText | undefined {
  try {
    return readText(
      readBounded(file, { maxBytes: MAX_CONFIG_BYTES })
        .toString('utf8')
        .replace(/^\ufeff/, ''),
    );
  } catch {
    // The file is the problem, and has no place to mark.
    return undefined;
  }
}

function diagnosticOf(
  problem: EditorProblem,
  workspace: string,
  folder: string,
  text: ConfigurationText | undefined,
): { uri: vscode.Uri; diagnostic: vscode.Diagnostic } {
  const { location, endColumn = endOf(problem, text), server } = problem;
  const { uri, range: place } = toRange(location, workspace);
  // The editor widens an empty range to the word at that position.
  const range = endColumn === undefined ? place : place.with({ end: place.start.with({ character: endColumn - 1 }) });
  const message = notificationText`${problem.message}`;
  const diagnostic = new vscode.Diagnostic(range, message, SEVERITIES[problem.severity]);
  diagnostic.source = EXTENSION_TITLE;
  if (server) {
    const log = new vscode.Location(vscode.Uri.from(logPlace(folder, server.status.name)), new vscode.Position(0, 0));
    diagnostic.relatedInformation = server.stderr.map(
      (line) => new vscode.DiagnosticRelatedInformation(log, notificationText`${line}`),
    );
  }
  return { uri, diagnostic };
}

/** VS Code opens no command from a problem, and shows a file at a line. */
function sectionOn(code: string, { page, text }: Explanations): vscode.Uri {
  const line = text.split('\n').indexOf(`## ${code}`) + 1;
  return page.with({ fragment: `L${Math.max(1, line)}` });
}

function endOf({ location }: EditorProblem, text: ConfigurationText | undefined): number | undefined {
  if (!text) return undefined;
  let start = 0;
  for (let line = 1; line < location.line; line++) start = text.text.indexOf('\n', start) + 1;
  const { length } = pieceAt(text, start + location.column - 1);
  return length === 0 ? undefined : location.column + length;
}
