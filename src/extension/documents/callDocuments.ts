import * as vscode from 'vscode';
import type { CallDetails } from '../../control/activityContract.ts';
import type { ServerStatus } from '../../control/contract.ts';
import type { Call } from '../activity/callList.ts';
import { isOpen } from '../activity/callList.ts';
import { WAYGATE_SCHEME } from '../contributions.ts';
import { t } from '../l10n.ts';
import type { Disposable } from '../observable.ts';
import { type CallKey, type CallPart, callKeyOf } from './addresses.ts';
import { answerText, attemptsText, FORGOTTEN, requestText } from './callText.ts';
import { type FaultAction, faultDocument } from './faultText.ts';
import type { DocumentAddress, DocumentGateway, DocumentProvider } from './waygateFiles.ts';

/** Calls that the window knows, for those of a worker that has ended. */
export interface KnownCalls {
  find(key: CallKey): Call | undefined;
  onChange(listener: () => void): Disposable;
}

const FORGET: FaultAction = { line: 0, title: t`Forget Call`, command: 'waygate.forgetCalls' };

/** Documents of a call: its request, its answer, its fault and its attempts. */
export class CallDocuments implements DocumentProvider, vscode.CodeLensProvider {
  readonly #calls: KnownCalls;
  readonly #actions = new Map<string, readonly { action: FaultAction; argument: unknown }[]>();
  /** Steps that servers needed when their faults were rendered. */
  readonly #remedies = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(calls: KnownCalls) {
    this.#calls = calls;
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      this.#changed,
      vscode.languages.registerCodeLensProvider({ scheme: WAYGATE_SCHEME }, this),
    );
  }

  async read({ uri, segments: [name = '', part], gateway }: DocumentAddress): Promise<Uint8Array> {
    const key = callKeyOf(name);
    if (key === undefined) throw new Error(FORGOTTEN);
    const known = this.#calls.find(key);
    const kept = await detailsOf(gateway, key).catch((error: unknown) => {
      if (known?.lost) return undefined;
      throw error;
    });
    const details = kept ?? (part === 'fault.md' ? lostDetails(known) : undefined);
    if (details === undefined) throw new Error(FORGOTTEN);
    return Buffer.from(this.#render(uri, part as CallPart, details, gateway, known));
  }

  watch({ uri, segments: [name = ''], gateway }: DocumentAddress, changed: () => void): Disposable {
    const key = callKeyOf(name);
    const find = (): Call | undefined => key && this.#calls.find(key);
    let before = find();
    const watching = this.#calls.onChange(() => {
      const now = find();
      // An ended call does not change, and what the user reads must not disappear.
      if (now !== before && (before === undefined || isOpen(before))) changed();
      before = now;
    });
    const fault = String(uri);
    // The next step changes with the server, and one that is done must not be offered again.
    const follow = async (): Promise<void> => {
      const shown = this.#remedies.get(fault);
      const server = serverNow(gateway, find()?.server);
      if (key === undefined || shown === undefined || !server || remedyKey(server) === shown) return;
      if (find()?.lost || (await detailsOf(gateway, key).catch(() => undefined))) changed();
    };
    const following = gateway.state.onChange(() => void follow());
    void follow();
    return {
      dispose: () => {
        watching.dispose();
        following.dispose();
        this.#remedies.delete(fault);
      },
    };
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    return (this.#actions.get(String(uri)) ?? []).map(
      ({ action: { line, title, command }, argument }) =>
        new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command, arguments: [argument] }),
    );
  }

  #offer(uri: vscode.Uri, actions: readonly { action: FaultAction; argument: unknown }[]): void {
    this.#actions.set(String(uri), actions);
    this.#changed.fire();
  }

  #render(
    uri: vscode.Uri,
    part: CallPart,
    details: CallDetails,
    gateway: DocumentGateway,
    known: Call | undefined,
  ): string {
    const call = known && { kind: 'call', call: known };
    switch (part) {
      case 'request.json':
      case 'answer.txt':
        // *Forget Call* removes the values that the two documents show.
        this.#offer(uri, known && !isOpen(known) ? [{ action: FORGET, argument: call }] : []);
        return part === 'request.json' ? requestText(details) : answerText(details);
      case 'attempts.md':
        return attemptsText(details);
      case 'fault.md': {
        const server = serverNow(gateway, details.record.server);
        this.#remedies.set(String(uri), remedyKey(server));
        const { text, actions } = faultDocument({ details, ...(server && { server }), lost: known?.lost === true });
        const row = server && { kind: 'server', server, folder: uri.authority };
        this.#offer(
          uri,
          actions.map((action) => ({ action, argument: action.command === 'waygate.tryAgain' ? call : row })),
        );
        return text;
      }
      default:
        throw new Error(FORGOTTEN);
    }
  }
}

/** Returns a server as it is now; undefined while no gateway is attached. */
function serverNow({ state: { value: state } }: DocumentGateway, name: string | undefined): ServerStatus | undefined {
  return state.kind === 'attached' ? state.snapshot.servers.find((server) => server.name === name) : undefined;
}

/** Key that changes with the step that a server needs, and not while it waits. */
function remedyKey(server: ServerStatus | undefined): string {
  const { kind = '', ...more } = server?.remedy ?? {};
  return kind === 'wait' ? kind : JSON.stringify([kind, more]);
}

/** Returns what the worker keeps of a call; undefined for a call of another worker. */
export async function detailsOf(gateway: DocumentGateway, { run, id }: CallKey): Promise<CallDetails | undefined> {
  const { value: state } = gateway.state;
  if (state.kind === 'attached' && state.snapshot.worker.pid !== run) return undefined;
  return (await gateway.request('call', { id })) ?? undefined;
}

/** Makes what the window knows of a call whose worker has ended. */
function lostDetails(call: Call | undefined): CallDetails | undefined {
  if (call === undefined) return undefined;
  return { record: call, repairs: [], problems: [], attempts: [], stages: [] };
}
