import * as vscode from 'vscode';
import type { ArtifactBytes, ArtifactRow } from '../../control/artifactContract.ts';
import { t } from '../l10n.ts';
import { type ResultName, resultNameOf, resultPlace } from './addresses.ts';
import {
  cutEnd,
  cutStart,
  DUMPED_BYTES,
  extensionOf,
  hexdump,
  isBinary,
  MAX_WHOLE_BYTES,
  MEDIA_EXTENSIONS,
  PART_BYTES,
  partExtension,
  SNIFFED_BYTES,
} from './resultText.ts';
import type { DocumentAddress, DocumentGateway, DocumentProvider } from './waygateFiles.ts';

const HEX_EDITOR = { extension: 'ms-vscode.hexeditor', editor: 'hexEditor.hexedit' };

/** Result as a document shows it. `to` is the byte behind the shown ones. */
export interface ShownResult {
  row: ArtifactRow;
  extension: string;
  from: number;
  to: number;
}

/** Documents of results: whole ones, parts of large ones, and hexdumps. */
export class ResultDocuments implements DocumentProvider {
  readonly #shown = new Map<string, ShownResult>();
  readonly #read = new vscode.EventEmitter<void>();
  /** Fires when a document was read. */
  readonly onDidRead = this.#read.event;

  /** Returns the result that a document shows. */
  shown(uri: vscode.Uri): ShownResult | undefined {
    return this.#shown.get(String(uri));
  }

  async read({ uri, segments: [file = ''], gateway }: DocumentAddress): Promise<Uint8Array> {
    const name = resultNameOf(file);
    if (name === undefined) throw new Error(t`There is no such result`);
    const { bytes, ...shown } = await readResult(gateway, name);
    this.#shown.set(String(uri), { ...shown, extension: name.extension });
    this.#read.fire();
    return bytes;
  }

  dispose(): void {
    this.#read.dispose();
  }
}

async function readResult(
  gateway: DocumentGateway,
  { handle, extension, start }: ResultName,
): Promise<{ bytes: Uint8Array; row: ArtifactRow; from: number; to: number }> {
  if (extension === 'hex') {
    const { row, bytes } = await slice(gateway, handle, 0, DUMPED_BYTES);
    return { row, from: 0, to: bytes.length, bytes: Buffer.from(hexdump(bytes, row.size)) };
  }
  if (start === 'last') return lastPart(gateway, handle);
  const from = start ?? 0;
  // An answer is as long as a part, so that the head needs no other request.
  const { row, bytes, next } = await slice(gateway, handle, from, PART_BYTES);
  const isMedia = MEDIA_EXTENSIONS.includes(extension) || isBinary(extension);
  if (start !== undefined || (row.size > MAX_WHOLE_BYTES && !isMedia)) {
    const cut = next === undefined ? bytes : cutEnd(bytes);
    return { row, from, to: from + cut.length, bytes: cut };
  }
  const parts: Uint8Array[] = [bytes];
  if (next !== undefined) for await (const part of eachSlice(gateway, handle, next)) parts.push(part);
  const whole = Buffer.concat(parts);
  return { row, from, to: whole.length, bytes: whole };
}

async function lastPart(
  gateway: DocumentGateway,
  handle: string,
): Promise<{ bytes: Uint8Array; row: ArtifactRow; from: number; to: number }> {
  const { row } = await slice(gateway, handle, 0, 0);
  const { bytes } = await slice(gateway, handle, Math.max(0, row.size - PART_BYTES), PART_BYTES);
  const cut = row.size > PART_BYTES ? cutStart(bytes) : bytes;
  return { row, from: row.size - cut.length, to: row.size, bytes: cut };
}

/** Reads bytes of a result. Throws the reason in a sentence where there is none. */
async function slice(
  gateway: DocumentGateway,
  handle: string,
  offset: number,
  length: number,
): Promise<Pick<ArtifactBytes, 'row' | 'next'> & { bytes: Buffer }> {
  const answer = await gateway.request('readArtifact', { handle, offset, length });
  if ('reason' in answer) throw new Error(answer.reason);
  return { ...answer, bytes: Buffer.from(answer.bytes, 'base64') };
}

/** Yields the bytes of a result from an offset on, so that a large one is never in memory as a whole. */
export async function* eachSlice(gateway: DocumentGateway, handle: string, from = 0): AsyncGenerator<Buffer> {
  for (let offset: number | undefined = from; offset !== undefined; ) {
    const { bytes, next }: { bytes: Buffer; next?: number } = await slice(gateway, handle, offset, PART_BYTES);
    yield bytes;
    offset = next;
  }
}

/** Returns the row of a result and the extension of its document. */
export async function describeResult(
  gateway: DocumentGateway,
  handle: string,
): Promise<{ row: ArtifactRow; extension: string }> {
  const { row, bytes } = await slice(gateway, handle, 0, SNIFFED_BYTES);
  return { row, extension: extensionOf(row.mediaType, bytes) };
}

/** Opens a result: a picture as a picture, other bytes in the hex editor or as a hexdump, a large text by its head. */
export async function openResult(gateway: DocumentGateway, folder: string, handle: string): Promise<void> {
  const { row, extension } = await describeResult(gateway, handle);
  const isLarge = row.size > MAX_WHOLE_BYTES;
  const uri = (ending: string): vscode.Uri => vscode.Uri.from(resultPlace(folder, { handle, extension: ending }));
  const options = { preview: true };
  if (!isBinary(extension)) {
    const isMedia = MEDIA_EXTENSIONS.includes(extension);
    await vscode.commands.executeCommand(
      'vscode.open',
      uri(isLarge && !isMedia ? partExtension(extension) : extension),
      options,
    );
  } else if (vscode.extensions.getExtension(HEX_EDITOR.extension)) {
    await vscode.commands.executeCommand('vscode.openWith', uri(extension), HEX_EDITOR.editor, options);
  } else {
    await vscode.commands.executeCommand('vscode.open', uri('hex'), options);
  }
}
