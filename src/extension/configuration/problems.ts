import * as vscode from 'vscode';
import type { ConfigurationProblem } from '../../control/contract.ts';
import { EXTENSION_TITLE } from '../contributions/contributions.ts';
import type { Disposable, Observable } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';
import { toRange } from '../tree/toolsTree.ts';

/** Shows configuration problems in the Problems view and under their text. */
export function showProblems(gateway: Observable<GatewayView>): Disposable {
  const collection = vscode.languages.createDiagnosticCollection('waygate');
  let shown = '';
  const update = ({ link }: GatewayView): void => {
    // Keep the last findings while a worker is replaced.
    if (link.kind !== 'attached' && link.kind !== 'off') return;
    const problems = link.kind === 'attached' ? link.snapshot.configuration.problems : [];
    const next = JSON.stringify(problems);
    if (next === shown) return;
    shown = next;
    collection.clear();
    for (const problem of problems) add(collection, problem, link.kind === 'attached' ? link.snapshot.workspace : '');
  };
  update(gateway.value);
  return vscode.Disposable.from(collection, gateway.onChange(update));
}

function add(collection: vscode.DiagnosticCollection, problem: ConfigurationProblem, workspace: string): void {
  const { uri, range: place } = toRange(problem.location, workspace);
  // The editor widens an empty range to the word at that position.
  const range =
    problem.endColumn === undefined
      ? place
      : place.with({ end: place.start.with({ character: problem.endColumn - 1 }) });
  const severity = problem.severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const diagnostic = new vscode.Diagnostic(range, problem.message, severity);
  diagnostic.source = EXTENSION_TITLE;
  collection.set(uri, [...(collection.get(uri) ?? []), diagnostic]);
}
