import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { Observable, onChangeOfAny } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';
import { FolderGateway, type FolderPlace, type WindowParts } from './folderGateway.ts';
import { FIRST_NAME, gatewayNames } from './gatewayNames.ts';

/** Folder with the state of its gateway, for views that show all folders. */
export interface FolderView {
  name: string;
  title: string;
  view: GatewayView;
}

/**
 * Gateways of the folders of the workspace on a real disk, in their order. Each starts a worker when its folder has a
 * configuration. Contains one without a folder where there is none.
 */
export class Folders implements vscode.Disposable {
  readonly gateways: Observable<readonly FolderGateway[]>;
  readonly views: Observable<readonly FolderView[]>;
  readonly #window: WindowParts;
  readonly #watching: vscode.Disposable;

  constructor(window: WindowParts) {
    this.#window = window;
    this.gateways = new Observable<readonly FolderGateway[]>([]);
    this.#follow();
    this.views = new Observable<readonly FolderView[]>(this.#views());
    this.#watching = vscode.Disposable.from(
      onChangeOfAny(
        this.gateways,
        ({ view }) => view,
        () => this.views.set(this.#views()),
      ),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.#follow()),
    );
  }

  /** Returns the gateways that run, or are to run. */
  get served(): readonly FolderGateway[] {
    return this.gateways.value.filter(({ view }) => isServed(view.value));
  }

  /** Returns the gateway of this name. */
  named(name: string): FolderGateway | undefined {
    return this.gateways.value.find(({ place }) => place.name === name);
  }

  dispose(): void {
    this.#watching.dispose();
    for (const gateway of this.gateways.value) gateway.dispose();
  }

  #follow(): void {
    const before = this.gateways.value;
    const wanted = places();
    const kept = before.filter(({ place }) => wanted.some((one) => isDeepStrictEqual(one, place)));
    if (kept.length === before.length && kept.length === wanted.length) return;
    // Before a new one, which may have the name of one that goes.
    for (const gone of before.filter((one) => !kept.includes(one))) gone.dispose();
    this.gateways.set(
      wanted.map((place) => kept.find((one) => isDeepStrictEqual(one.place, place)) ?? this.#gatewayOf(place)),
    );
  }

  #gatewayOf(place: FolderPlace): FolderGateway {
    return new FolderGateway(place, this.#window, {
      label: () => (this.served.length > 1 ? place.title : undefined),
      isFirstServed: () => this.served[0]?.place === place,
    });
  }

  #views(): FolderView[] {
    return this.gateways.value.map(({ place: { name, title }, view }) => ({ name, title, view: view.value }));
  }
}

export function isServed({ link }: GatewayView): boolean {
  return link.kind !== 'off';
}

/** Programs cannot run in a virtual file system. */
function places(): FolderPlace[] {
  const local = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  if (local.length === 0) return [{ name: FIRST_NAME, title: '', path: undefined, isFirst: true }];
  const names = gatewayNames(local.map(({ name }) => name));
  return local.map(({ uri, name: title }, index) => ({
    name: names[index] ?? FIRST_NAME,
    title,
    path: uri.fsPath,
    isFirst: index === 0,
  }));
}
