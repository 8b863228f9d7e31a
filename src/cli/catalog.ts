import type { CatalogReport } from '../control/contract.ts';
import type { GatewayTarget } from '../host/startWorker.ts';
import { count, groupDigits } from '../ops/porcelain.ts';
import { withSettledGateway } from './settledGateway.ts';

export interface CatalogCommand extends GatewayTarget {
  stats: boolean;
  json: boolean;
}

export function catalog({ stats, json, ...target }: CatalogCommand): Promise<number> {
  return withSettledGateway(target, async (control) => {
    const report = await control.request('catalog', {});
    if (json) process.stdout.write(`${JSON.stringify(stats ? statsOf(report) : report, null, 2)}\n`);
    else process.stdout.write(stats ? renderStats(report) : renderTools(report));
    return 0;
  });
}

function statsOf({ namespaces: _namespaces, ...stats }: CatalogReport): object {
  return stats;
}

function renderTools({ namespaces, findings }: CatalogReport): string {
  const lines = namespaces.flatMap(({ namespace, server, tools }) => [
    `/${namespace}  ${count(tools.length, 'tool')}${server === namespace ? '' : ` of ${server}`}`,
    ...tools.map(({ path, description }) => `  ${path}  ${description}`),
  ]);
  return `${[...lines, ...findingLines(findings)].join('\n')}\n`;
}

export function renderStats({ tokensByServer, findings, definitionTokens, gatewayTokens }: CatalogReport): string {
  const tools = tokensByServer.reduce((sum, server) => sum + server.tools, 0);
  const largest = [...tokensByServer].sort((a, b) => b.tokens - a.tokens);
  return `${[
    `${count(tools, 'tool')} of ${count(tokensByServer.length, 'server')}`,
    `${groupDigits(definitionTokens)} tokens if a model had them all; ${groupDigits(gatewayTokens)} through the gateway`,
    ...largest.map(
      ({ server, tools: n, tokens }) => `  ${groupDigits(tokens).padStart(10)}  ${server}, ${count(n, 'tool')}`,
    ),
    ...findingLines(findings),
  ].join('\n')}\n`;
}

function findingLines(findings: CatalogReport['findings']): string[] {
  if (findings.length === 0) return [];
  return [
    '',
    ...findings.map(({ server, tool, kind, reason }) => `${kind}  ${server}${tool ? ` ${tool}` : ''}: ${reason}`),
  ];
}
