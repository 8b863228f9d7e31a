import { visibleJson, visibleText } from '../../text/visibleText.ts';
import { t } from '../l10n.ts';
import type { Disposable } from '../observable.ts';
import type { DocumentAddress, DocumentGateway, DocumentProvider } from './waygateFiles.ts';
import { whyRanked } from './whyRanked.ts';

const LOG_LINES = 2_000;
const LOG_INTERVAL_MS = 1_000;

/** Definitions of tools as their servers sent them, and the versions before. */
export const toolDocuments: DocumentProvider = {
  async read({ segments: [namespace = '', file = ''], gateway }: DocumentAddress): Promise<Uint8Array> {
    const [, name = '', before] = /^(.*?)(\.before)?\.json$/s.exec(file) ?? [];
    const tool = await gateway.request('tool', { toolId: `${namespace}:${name}` });
    if (!tool) throw new Error(t`There is no such tool now: its server may be off, or it lists the tool no more`);
    if (before && !tool.before) throw new Error(t`The definition has not changed, so there is none before`);
    return Buffer.from(`${visibleJson(before ? tool.before?.definition : tool.definition, 2)}\n`);
  },
};

/** Number of hits that are explained or searched for an expected tool. */
const RANKED = 50;

/** Explanations of rankings: of a query, or of the place of a tool in its hits (first the tool, then the query). */
export const rankedDocuments: DocumentProvider = {
  async read({ segments, gateway }: DocumentAddress): Promise<Uint8Array> {
    const query = (segments.at(-1) ?? '').replace(/\.md$/, '');
    const expected = segments.length > 1 ? segments[0] : undefined;
    const [explanation, learned] = await Promise.all([
      gateway.request('explain', { query, topK: RANKED }),
      gateway.request('learned', {}),
    ]);
    return Buffer.from(whyRanked({ explanation, expected, learned }));
  },
};

/** Recorded sessions, or what one says about a question (first the question, then the file). */
export const sessionDocuments: DocumentProvider = {
  async read({ segments, gateway }: DocumentAddress): Promise<Uint8Array> {
    const file = (segments.at(-1) ?? '').replace(/\.md$/, '');
    const [question] = segments.length > 1 ? segments : [];
    const shown = await gateway.request('session', { file, ...(question !== undefined && { question }) });
    if ('reason' in shown) throw new Error(shown.reason);
    return Buffer.from(shown.text);
  },
};

/** Logs of servers, which follow what a server writes while they are open. */
export const logDocuments: DocumentProvider = {
  async read({ segments, gateway }: DocumentAddress): Promise<Uint8Array> {
    const { lines } = await gateway.request('serverLog', { server: serverOf(segments), lines: LOG_LINES });
    if (lines.length === 0)
      return Buffer.from(`${t`The server has written nothing to stderr since the gateway started.`}\n`);
    return Buffer.from(`${lines.map(visibleText).join('\n')}\n`);
  },

  watch({ segments, gateway }: DocumentAddress, changed: () => void): Disposable {
    let last: number | undefined;
    const look = async (): Promise<void> => {
      const next = await lastLine(gateway, serverOf(segments)).catch(() => undefined);
      if (next !== undefined && last !== undefined && next !== last) changed();
      last = next ?? last;
    };
    const clock = setInterval(() => void look(), LOG_INTERVAL_MS);
    void look();
    return { dispose: () => clearInterval(clock) };
  },
};

function serverOf([file = '']: readonly string[]): string {
  return file.replace(/\.log$/, '');
}

async function lastLine(gateway: DocumentGateway, server: string): Promise<number> {
  return (await gateway.request('serverLog', { server, lines: 0 })).next;
}
