import type { CatalogReport } from '../../control/contract.ts';
import { count, groupDigits, inLines } from '../../text/porcelain.ts';
import type { CatalogCommand } from '../commands.ts';
import { errorsOf, print, printProblem } from '../print.ts';
import { withSettledGateway } from '../settledGateway.ts';
import { printStepFor } from './status.ts';

export function catalog({ stats, json, ...target }: CatalogCommand): Promise<number> {
  return withSettledGateway(target, async (control) => {
    const report = await control.request('catalog', {});
    const status = await control.request('status', {});
    // Print configuration problems too: they explain why a server is missing.
    for (const problem of errorsOf(status.configuration)) printProblem(problem);
    print(json, stats ? statsOf(report) : report, stats ? renderStats(inLines(report)) : renderTools(inLines(report)));
    printStepFor(json, status);
    return 0;
  });
}

function statsOf({ namespaces: _namespaces, ...stats }: CatalogReport): object {
  return stats;
}

function renderTools({ namespaces, findings }: CatalogReport): string {
  const all = namespaces.reduce((sum, { tools }) => sum + tools.length, 0);
  const lines = namespaces.flatMap(({ namespace, server, tools }) => [
    `/${namespace}  ${count(tools.length, 'tool')}${server === namespace ? '' : ` of ${server}`}`,
    ...tools.map(({ path, description }) => `  ${path}  ${description}`),
  ]);
  return `${[summaryOf(all, namespaces.length), ...lines, ...findingLines(findings)].join('\n')}\n`;
}

export function renderStats(report: CatalogReport): string {
  const { tokensByServer, findings, definitionTokens, gatewayTokens, withPrimitivesTokens: more } = report;
  const tools = tokensByServer.reduce((sum, server) => sum + server.tools, 0);
  const largest = [...tokensByServer].sort((a, b) => b.tokens - a.tokens);
  return `${[
    summaryOf(tools, tokensByServer.length),
    `about ${groupDigits(definitionTokens)} tokens (cl100k) a request if a model had them all; ${groupDigits(gatewayTokens)} through the gateway${more === undefined ? '' : `, or ${groupDigits(more)} with its tools for resources and prompts`}`,
    ...largest.map(
      ({ server, tools: n, tokens }) => `  ${groupDigits(tokens).padStart(10)}  ${server}, ${count(n, 'tool')}`,
    ),
    ...findingLines(findings),
  ].join('\n')}\n`;
}

const summaryOf = (tools: number, servers: number): string => `${count(tools, 'tool')} of ${count(servers, 'server')}`;

function findingLines(findings: CatalogReport['findings']): string[] {
  if (findings.length === 0) return [];
  return [
    '',
    ...findings.map(({ server, tool, kind, reason }) => `${kind}  ${server}${tool ? ` ${tool}` : ''}: ${reason}`),
  ];
}
