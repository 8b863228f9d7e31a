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
  readonly #watching: Disposable;

  constructor(
    { distFolder, version }: Installation,
    settings: Watchable<Pick<RecordsInputs, 'recordsUrl' | 'nodePath'>>,
    tokens: RecordTokens,
  ) {
    const read = (): DefinitionData | undefined => {
      const { recordsUrl, nodePath } = settings.value;
      return recordsDefinition({
        distFolder,
        extensionVersion: version,
        recordsUrl,
        nodePath,
        execPath: process.execPath,
      });
    };
    this.tokens = tokens;
    this.#settings = settings;
    this.definition = new Observable(read(), isDeepStrictEqual);
    this.#watching = settings.onChange(() => this.definition.set(read()));
  }

  readonly setToken = (): Promise<void> => this.tokens.replace(this.#settings.value.recordsUrl.trim());

  dispose(): void {
    this.#watching.dispose();
  }
}
