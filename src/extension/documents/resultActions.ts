import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { oneLine } from '../../text/porcelain.ts';
import type { ResultElement } from '../activity/resultsView.ts';
import { plural, t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import { ask, choosePath, input, notify, saveAs } from '../windows.ts';
import { place, resultNameOf, segmentsOf } from './addresses.ts';
import { foundText, type Selector } from './foundText.ts';
import { describeResult, eachSlice, openResult } from './resultDocuments.ts';
import { viewCall } from './resultText.ts';
import type { DocumentAddress, DocumentGateway, DocumentProvider } from './waygateFiles.ts';

/** Result, and the name of the gateway that keeps it. */
export interface ResultKey {
  folder: string;
  handle: string;
}

export interface ResultSource {
  gatewayOf: (folder: string) => DocumentGateway;
  /** Results of the selected rows. */
  selected: () => readonly ResultKey[];
  openTable: (result: ResultKey) => Promise<void>;
}

/** Actions on results, from a row, from the buttons of a document, or for the document in front. */
export class ResultActions {
  readonly #source: ResultSource;

  constructor(source: ResultSource) {
    this.#source = source;
  }

  open(argument: unknown): Promise<void> {
    const { folder, handle } = resultOf(argument);
    return openResult(this.#source.gatewayOf(folder), folder, handle);
  }

  async save(argument: unknown): Promise<vscode.Uri | undefined> {
    const { folder, handle } = resultOf(argument);
    const gateway = this.#source.gatewayOf(folder);
    const { base, extension } = await fileNameOf(gateway, handle);
    const target = await saveAs(notificationText`Save Result`, `${base}.${extension}`);
    if (target) await writeResult(gateway, handle, target);
    return target;
  }

  /** Writes each result of a call into a folder, beside the files that are there. */
  async saveAll(argument: unknown): Promise<void> {
    const results = resultsOf(argument);
    const folder = await choosePath(notificationText`Save ${results.length} Results in a Folder`, 'folder');
    if (!folder) return;
    const taken = new Set((await vscode.workspace.fs.readDirectory(folder)).map(([name]) => name.toLowerCase()));
    for (const result of results) {
      const gateway = this.#source.gatewayOf(result.folder);
      const { base, extension } = await fileNameOf(gateway, result.handle);
      const named = (place: number): string => `${base}${place === 1 ? '' : `-${place}`}.${extension}`;
      let place = 1;
      while (taken.has(named(place).toLowerCase())) place += 1;
      taken.add(named(place).toLowerCase());
      await writeResult(gateway, result.handle, vscode.Uri.joinPath(folder, named(place)));
    }
  }

  async delete(argument: unknown): Promise<void> {
    const clicked = argument === undefined ? [] : resultsOf(argument);
    const selected = this.#source.selected();
    const isSelected = clicked.every((one) => selected.some((other) => isDeepStrictEqual(one, other)));
    // A row and the row of its call may both be selected.
    const all = isSelected ? selected : clicked;
    const results = [...new Map(all.map((one) => [JSON.stringify([one.folder, one.handle]), one])).values()];
    if (results.length === 0) return;
    const answer = await ask(
      results.length === 1
        ? notificationText`Delete this result?`
        : notificationText`Delete these ${results.length} results?`,
      notificationText`Agents that have a handle can no longer read it.`,
      [{ title: notificationText`Delete` }],
    );
    if (!answer) return;
    let expired = 0;
    for (const folder of new Set(results.map((one) => one.folder))) {
      const handles = results.filter((one) => one.folder === folder).map(({ handle }) => handle);
      const { deleted } = await this.#source.gatewayOf(folder).request('deleteArtifacts', { handles });
      expired += handles.length - deleted;
    }
    const words = plural(expired, t`1 result had expired already.`, t`${expired} results had expired already.`);
    if (expired > 0) void notify('info', notificationText`${words}`);
  }

  async find(argument: unknown): Promise<void> {
    const result = resultOf(argument);
    const pattern = await input({
      title: notificationText`Find in All of the Result`,
      prompt: notificationText`Regular expression; (?i) at the beginning ignores upper and lower case.`,
      password: false,
    });
    if (pattern) await this.#show(result, pattern, { type: 'grep', pattern, context: 2, limit: 500 });
  }

  async filter(argument: unknown): Promise<void> {
    const result = resultOf(argument);
    const text = await input({
      title: notificationText`Filter the Result`,
      prompt: notificationText`A JSONPath that begins with $ such as $.items[0:20].name, or names of columns separated by commas.`,
      password: false,
    });
    if (!text) return;
    const selector = text.trim().startsWith('$')
      ? { type: 'json_path', path: text.trim() }
      : { type: 'columns', columns: text.split(',').map((name) => name.trim()) };
    await this.#show(result, text, selector);
  }

  table(argument: unknown): Promise<void> {
    return this.#source.openTable(resultOf(argument));
  }

  async copyHandle(argument: unknown): Promise<void> {
    await vscode.env.clipboard.writeText(resultOf(argument).handle);
  }

  async copyViewCall(argument: unknown): Promise<void> {
    const { folder, handle } = resultOf(argument);
    const { extension } = await describeResult(this.#source.gatewayOf(folder), handle);
    await vscode.env.clipboard.writeText(viewCall(handle, extension));
  }

  async #show({ folder, handle }: ResultKey, name: string, selector: object): Promise<void> {
    const { scheme, authority, path } = place(folder, 'found', handle, `${oneLine(name, 60)}.txt`);
    const uri = vscode.Uri.from({ scheme, authority, path, query: JSON.stringify(selector) });
    await vscode.commands.executeCommand('vscode.open', uri, { preview: true });
  }
}

/** Documents of what a selector finds in a result. */
export const foundDocuments: DocumentProvider = {
  async read({ uri, segments: [handle = ''], gateway }: DocumentAddress): Promise<Uint8Array> {
    const select = (selector: Selector) => gateway.request('selectArtifact', { handle, selector });
    return Buffer.from(await foundText(select, JSON.parse(uri.query) as Selector));
  },
};

async function fileNameOf(gateway: DocumentGateway, handle: string): Promise<{ base: string; extension: string }> {
  const { row, extension } = await describeResult(gateway, handle);
  const name = (row.toolId ?? row.label).replace(/^[^:]*:|#[0-9a-f]{8}$/g, '').replace(/[^\w.-]+/g, '-');
  return { base: name.slice(0, 80) || 'result', extension };
}

/** Writes the whole result, part by part, so that a large one is never in memory. */
async function writeResult(gateway: DocumentGateway, handle: string, target: vscode.Uri): Promise<void> {
  if (target.scheme === 'file') return pipeline(eachSlice(gateway, handle), createWriteStream(target.fsPath));
  const parts = [];
  for await (const part of eachSlice(gateway, handle)) parts.push(part);
  await vscode.workspace.fs.writeFile(target, Buffer.concat(parts));
}

/** Returns the results of a row, which may be that of a call, or of a document. */
function resultsOf(argument: unknown): ResultKey[] {
  const isGroup = typeof argument === 'object' && argument !== null && 'group' in argument;
  return isGroup ? keysOf(argument as ResultElement) : [resultOf(argument)];
}

/** Returns the results of a row of the view. */
export function keysOf(element: ResultElement): ResultKey[] {
  const { folder } = element;
  if (element.kind === 'result') return [{ folder, handle: element.handle }];
  return element.group.results.map(({ handle }) => ({ folder, handle }));
}

/** Returns the result of a row, of a document's address, or of the document in front. */
function resultOf(argument: unknown): ResultKey {
  if (typeof argument === 'object' && argument !== null && 'folder' in argument && 'handle' in argument) {
    return { folder: String(argument.folder), handle: String(argument.handle) };
  }
  const uri = argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;
  const [first, file = ''] = segmentsOf(uri?.path ?? '');
  const name = first === 'results' ? resultNameOf(file) : undefined;
  if (!uri || !name) throw new Error(t`Open a result, or use the menu of its row`);
  return { folder: uri.authority, handle: name.handle };
}
