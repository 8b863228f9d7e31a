import * as vscode from 'vscode';
import { EXTENSION_ID, WALKTHROUGH_ID, WAYGATE_SCHEME } from '../contributions.ts';
import { debounced } from '../gateway/pacing.ts';
import type { Disposable, Watchable } from '../observable.ts';
import { setContextKey } from '../registrations.ts';
import type { GatewayView } from '../status/health.ts';
import { type StepKey, stepsDone } from './firstSteps.ts';

/**
 * VS Code reads walkthroughs with the first page that shows one, in up to five seconds, and never completes a step whose
 * key is set by then.
 */
const READ_MS = 6_000;

/** Opens the walkthrough and completes its steps. A step stays done: the editor remembers it. */
export class FirstSteps implements Disposable {
  readonly #done = new Set<StepKey>();
  #isRead = false;
  readonly #read = debounced(READ_MS, () => {
    this.#isRead = true;
    for (const step of this.#done) setContextKey(step, true);
  });

  constructor() {
    // A page with walkthroughs may be open from the start.
    this.#read();
  }

  async open(): Promise<void> {
    this.#isRead = false;
    for (const step of this.#done) setContextKey(step, undefined);
    this.#read();
    await vscode.commands.executeCommand(
      'workbench.action.openWalkthrough',
      `${EXTENSION_ID}#${WALKTHROUGH_ID}`,
      false,
    );
  }

  follow(folders: Watchable<readonly { view: GatewayView }[]>): Disposable {
    const look = (): void => {
      for (const step of stepsDone(folders.value.map(({ view }) => view))) this.#complete(step);
    };
    look();
    return vscode.Disposable.from(
      folders.onChange(look),
      vscode.window.tabGroups.onDidChangeTabs(({ opened, changed }) => {
        if ([...opened, ...changed].some(({ input }) => isResult(input))) this.#complete('waygate.step.read');
      }),
    );
  }

  dispose(): void {
    this.#read.dispose();
  }

  #complete(step: StepKey): void {
    if (this.#done.has(step)) return;
    this.#done.add(step);
    if (this.#isRead) setContextKey(step, true);
  }
}

/** Recognizes the document of a call or of a result in any editor, also a preview or a picture. */
function isResult(input: unknown): boolean {
  const uri = typeof input === 'object' && input !== null && 'uri' in input ? input.uri : undefined;
  return uri instanceof vscode.Uri && uri.scheme === WAYGATE_SCHEME && /^\/(calls|results)\//.test(uri.path);
}
