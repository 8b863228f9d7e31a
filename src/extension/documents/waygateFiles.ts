import * as vscode from 'vscode';
import { WAYGATE_SCHEME } from '../contributions.ts';
import { type GatewayLink, sentenceOf } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
import { markdownText } from '../notificationText.ts';
import type { Disposable } from '../observable.ts';
import { type DocumentPlace, segmentsOf } from './addresses.ts';

export type DocumentGateway = Pick<GatewayLink, 'request' | 'state'>;

/** Document that is asked for: the segments of its path behind the first one, and the gateway of its folder. */
export interface DocumentAddress {
  uri: vscode.Uri;
  segments: readonly string[];
  gateway: DocumentGateway;
}

/** Documents below one first segment of the path. */
export interface DocumentProvider {
  /** Returns the content. Throws the sentence that the document shows instead. */
  read(address: DocumentAddress): Promise<Uint8Array>;
  /** Calls back when the content has changed, until it is disposed. */
  watch?(address: DocumentAddress, changed: () => void): Disposable;
}

interface Kept {
  stat: vscode.FileStat;
  /** Content, until the editor reads it: the editor asks for the size before each read. */
  bytes: Uint8Array | undefined;
  isUnavailable: boolean;
}

/** Number of documents whose size is known. */
const MAX_KEPT = 200;
/** Endings that the editor shows as pictures or sounds, where words would be a damaged file. */
const MEDIA = /\.(?:png|jpe?g|gif|webp|bmp|ico|avif|mp3|wav|ogg|mp4|webm)$/i;

export async function openDocument(place: DocumentPlace): Promise<void> {
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.from(place), { preview: true });
}

/** Read-only file system `waygate:`. Each first segment of a path has a provider. */
export class WaygateFiles implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #gatewayOf: (name: string) => DocumentGateway | undefined;
  readonly #providers = new Map<string, DocumentProvider>();
  readonly #kept = new Map<string, Kept>();
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  readonly #registration: vscode.Disposable;

  /** `gatewayOf` finds the gateway of a folder by its name. */
  constructor(gatewayOf: (name: string) => DocumentGateway | undefined) {
    this.#gatewayOf = gatewayOf;
    const isReadonly = new vscode.MarkdownString();
    isReadonly.appendMarkdown(markdownText`Kept as it came. *Save As…* makes a copy of your own.`);
    this.#registration = vscode.workspace.registerFileSystemProvider(WAYGATE_SCHEME, this, {
      isReadonly,
      isCaseSensitive: true,
    });
  }

  provide(firstSegment: string, provider: DocumentProvider): void {
    this.#providers.set(firstSegment, provider);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    if (segmentsOf(uri.path).length < 2) return { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
    return (this.#kept.get(String(uri)) ?? (await this.#load(uri))).stat;
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const kept = this.#kept.get(String(uri));
    const { bytes } = kept?.bytes ? kept : await this.#load(uri);
    const loaded = this.#kept.get(String(uri));
    if (loaded) loaded.bytes = undefined;
    return bytes ?? new Uint8Array();
  }

  watch(uri: vscode.Uri): vscode.Disposable {
    const { address, provider } = this.#resolve(uri) ?? {};
    if (!address) return new vscode.Disposable(() => undefined);
    const changed = (): void => this.#forget(uri);
    const parts = [
      // A restored tab is read before the gateway runs.
      address.gateway.state.onChange(({ kind }) => {
        if (kind === 'attached' && this.#kept.get(String(uri))?.isUnavailable) changed();
      }),
      provider?.watch?.(address, changed),
    ];
    return new vscode.Disposable(() => {
      for (const part of parts) part?.dispose();
    });
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  writeFile(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }

  #resolve(uri: vscode.Uri): { address: DocumentAddress; provider: DocumentProvider } | undefined {
    const [first = '', ...segments] = segmentsOf(uri.path);
    const provider = this.#providers.get(first);
    const gateway = this.#gatewayOf(uri.authority);
    return provider && gateway && { provider, address: { uri, segments, gateway } };
  }

  async #load(uri: vscode.Uri): Promise<Kept> {
    const { bytes, isUnavailable } = await this.#read(uri);
    const kept: Kept = {
      stat: { type: vscode.FileType.File, ctime: 0, mtime: Date.now(), size: bytes.length },
      bytes,
      isUnavailable,
    };
    this.#kept.delete(String(uri));
    this.#kept.set(String(uri), kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }

  async #read(uri: vscode.Uri): Promise<{ bytes: Uint8Array; isUnavailable: boolean }> {
    try {
      const found = this.#resolve(uri);
      if (!found) throw new Error(t`There is no such document in this window: its folder is not open.`);
      return { bytes: await found.provider.read(found.address), isUnavailable: false };
    } catch (error) {
      const words = sentenceOf(error);
      if (MEDIA.test(uri.path)) throw vscode.FileSystemError.Unavailable(words);
      const text = uri.path.endsWith('.json') ? JSON.stringify({ unavailable: words }, null, 2) : words;
      return { bytes: Buffer.from(`${text}\n`), isUnavailable: true };
    }
  }

  #forget(uri: vscode.Uri): void {
    this.#kept.delete(String(uri));
    this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }
}
