import type {
  ArtifactAnswer,
  ArtifactBytes,
  ArtifactPage,
  ArtifactRow,
  ArtifactSelection,
} from '../../control/artifactContract.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { ArtifactInfo } from '../../results/artifacts/artifactFile.ts';
import type { ArtifactReader } from '../../results/artifacts/artifactReader.ts';
import type { ArtifactStore } from '../../results/artifacts/artifactStore.ts';
import { readMasked } from '../../results/artifacts/readMasked.ts';
import { maskedReader } from '../../results/artifacts/viewArtifact.ts';
import { select } from '../../results/select/selectors.ts';
import { type PageQuery, tablePage } from '../../results/select/tablePage.ts';
import { maskKnown, scrubSecrets } from '../../secrets/mask.ts';
import type { Activity } from '../reports/activity.ts';

export interface KeptResultsOptions {
  artifacts: ArtifactStore;
  /** Whether results are masked for models. Known secrets are masked in any case. */
  masks(): boolean;
  activity: Activity;
}

const MAX_PAGE = 500;
/** Limit of an answer. */
const MAX_BYTES = 1024 * 1024;

/** Kept results for the user: listed, read by ranges, selected from and removed. */
export class KeptResults {
  readonly #options: KeptResultsOptions;

  constructor(options: KeptResultsOptions) {
    this.#options = options;
  }

  async page(before: string | undefined, limit: number): Promise<ArtifactPage> {
    const { artifacts } = this.#options;
    const size = Math.min(Math.max(1, limit), MAX_PAGE);
    const found = await artifacts.list(size + 1, before);
    const { count, bytes } = artifacts.status();
    const { maxBytes, maxCount, maxAgeMs } = artifacts.limits;
    return {
      artifacts: found.slice(0, size).map(({ info, at }) => this.#row(info, at)),
      more: found.length > size,
      use: { bytes, maxBytes, count, maxCount, maxAgeMs },
    };
  }

  read(handle: string, offset: number, length: number): Promise<ArtifactAnswer<ArtifactBytes>> {
    return this.#opened(handle, async (reader) => {
      const mask = (text: string): string => this.#masked(text, reader.info);
      const { bytes, ...place } = await readMasked(reader, offset, Math.min(length, MAX_BYTES), mask);
      return { row: this.#row(reader.info, Date.now()), ...place, bytes: bytes.toString('base64') };
    });
  }

  select(handle: string, selector: Readonly<Record<string, unknown>>): Promise<ArtifactAnswer<ArtifactSelection>> {
    return this.#opened(handle, async (reader) => {
      const shown = await maskedReader(reader, (text) => this.#masked(text, reader.info));
      const { type, ...query } = selector;
      if (type === 'table') return this.#table(reader, await tablePage(shown, query as PageQuery));
      const { text, place, next } = await select(shown, selector);
      return {
        text: this.#masked(text, reader.info),
        ...(place !== undefined && { place }),
        ...(next && { next }),
      };
    });
  }

  async remove(handles: readonly string[]): Promise<number> {
    let deleted = 0;
    for (const handle of handles) if (await this.#options.artifacts.remove(handle)) deleted += 1;
    return deleted;
  }

  /** Masks the cells of a table, because a large artifact is not masked as a whole. */
  #table({ info }: ArtifactReader, page: Awaited<ReturnType<typeof tablePage>>): ArtifactSelection {
    const mask = (cells: readonly string[]): string[] => cells.map((cell) => this.#masked(cell, info));
    return {
      text: this.#masked(page.text, info),
      columns: mask(page.columns),
      rows: page.rows.map(mask),
      total: page.total,
    };
  }

  #masked(text: string, { source }: ArtifactInfo): string {
    return this.#options.masks() ? scrubSecrets(text, source?.server) : maskKnown(text);
  }

  async #opened<T>(handle: string, use: (reader: ArtifactReader) => Promise<T>): Promise<ArtifactAnswer<T>> {
    const reader = await this.#options.artifacts.open(handle);
    if (!reader) return { reason: 'This result is no longer kept. It has expired, or it was removed.' };
    try {
      return await use(reader);
    } catch (error) {
      return {
        reason: error instanceof GatewayError ? error.message : `It cannot be read: ${(error as Error).message}.`,
      };
    } finally {
      await reader.close();
    }
  }

  #row({ handle, mediaType, label, size, lines, source }: ArtifactInfo, at: number): ArtifactRow {
    const callId = this.#options.activity.callOf(handle);
    return {
      handle,
      mediaType,
      label,
      size,
      lines,
      at,
      ...(source && { server: source.server, toolId: source.id }),
      ...(callId !== undefined && { callId }),
    };
  }
}
