import { isDeepStrictEqual } from 'node:util';
import { type Disposable, Observable, type Watchable } from '../observable.ts';
import type { Installation } from './heldDefinition.ts';
import { type RecordsInputs, recordsDefinition } from './recordsDefinition.ts';
import type { RecordTokens } from './recordTokens.ts';
import type { DefinitionData } from './serverDefinition.ts';

/** Server for records: its definition while a provider is configured, and the tokens for it. */
export class RecordsServer {
  readonly definition: Observable<DefinitionData | undefined>;
  readonly tokens: RecordTokens;
  readonly #settings: Watchable<Pick<RecordsInputs, 'recordsUrl' | 'nodePath'>>;
  readonly #watching: readonly Disposable[];

  constructor(
    { distFolder, version }: Installation,
    settings: Watchable<Pick<RecordsInputs, 'recordsUrl' | 'nodePath'>>,
    folders: Watchable<readonly { place: { path: string | undefined } }[]>,
    tokens: RecordTokens,
  ) {
    const read = (): DefinitionData | undefined => {
      const { recordsUrl, nodePath } = settings.value;
      return recordsDefinition({
        distFolder,
        extensionVersion: version,
        recordsUrl,
        folder: folders.value[0]?.place.path,
        nodePath,
        execPath: process.execPath,
      });
    };
    this.tokens = tokens;
    this.#settings = settings;
    this.definition = new Observable(read(), isDeepStrictEqual);
    const update = (): void => this.definition.set(read());
    this.#watching = [settings.onChange(update), folders.onChange(update)];
  }

  readonly setToken = (): Promise<void> => this.tokens.replace(this.#settings.value.recordsUrl.trim());

  dispose(): void {
    for (const one of this.#watching) one.dispose();
  }
}
