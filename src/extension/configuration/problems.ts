import * as vscode from 'vscode';
import type { ConfigurationProblem } from '../../control/contract.ts';
import { EXTENSION_TITLE } from '../contributions.ts';
import { notificationText } from '../notificationText.ts';
import type { Disposable, Observable } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';
import { toRange } from '../tree/toolsTree.ts';
import { findingProblems, type ScannedServer } from '../trust/findings.ts';

/** Shows problems of the configuration, and hard findings of its servers, in the Problems view and under their text. */
export function showProblems(
  folder: string,
  gateway: Observable<GatewayView>,
  scanned: Observable<readonly ScannedServer[]>,
): Disposable {
  const collection = vscode.languages.createDiagnosticCollection(folder);
  let shown = '';
  const update = (): void => {
    const { link } = gateway.value;
    // Keep the last findings while a worker is replaced.
    if (link.kind !== 'attached' && link.kind !== 'off') return;
    const problems =
      link.kind === 'attached' ? [...link.snapshot.configuration.problems, ...findingProblems(scanned.value)] : [];
    const next = JSON.stringify(problems);
    if (next === shown) return;
    shown = next;
    collection.clear();
    for (const problem of problems) add(collection, problem, link.kind === 'attached' ? link.snapshot.workspace : '');
  };
  update();
  return vscode.Disposable.from(collection, gateway.onChange(update), scanned.onChange(update));
}

function add(collection: vscode.DiagnosticCollection, problem: ConfigurationProblem, workspace: string): void {
  const { uri, range: place } = toRange(problem.location, workspace);
  // The editor widens an empty range to the word at that position.
  const range =
    problem.endColumn === undefined
      ? place
      : place.with({ end: place.start.with({ character: problem.endColumn - 1 }) });
  const severity = problem.severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const diagnostic = new vscode.Diagnostic(range, notificationText`${problem.message}`, severity);
  diagnostic.source = EXTENSION_TITLE;
  collection.set(uri, [...(collection.get(uri) ?? []), diagnostic]);
}
