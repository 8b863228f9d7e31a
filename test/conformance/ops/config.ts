/** Operations of the configuration: the import of VS Code's mcp.json (issue D.4). */
import { clientConfigText, type Launch } from '../../../src/cli/clientConfig.ts';
import { isHttp, type ServerEntry } from '../../../src/config/import/serverEntry.ts';
import { UnreadableSource } from '../../../src/config/import/sourceFile.ts';
import { vscode } from '../../../src/config/import/sources/vscode.ts';
import type { OperationTable } from '../conformance.ts';

/** The program that the cases are about, as a client starts it. */
const THEIR_NAME = 'contextweaver-gateway';
const THEIR_LAUNCH: Launch = { command: 'uvx', args: ['contextweaver', 'mcp', 'serve', '--config', 'GW'] };

/**
 * An entry in the cases' form, which has no place for `cwd`, `envFile` and `disabled`. Ours keeps them: that
 * program's form loses them without a word (test/config/import/sources.test.ts).
 */
function upstream(name: string, entry: ServerEntry): Record<string, unknown> {
  if (isHttp(entry)) {
    const { type, url, headers } = entry;
    return { type, url, namespace: name, ...(headers && { headers }) };
  }
  const { command, args, env } = entry;
  return { type: 'stdio', command, namespace: name, ...(args && { args }), ...(env && { env }) };
}

/** The client's file with the gateway alone, in the form in which that file was. */
function replacement(input: object): unknown {
  if ('servers' in input) {
    const file = JSON.parse(clientConfigText('vscode', THEIR_LAUNCH, THEIR_NAME)) as object;
    return { $schema: 'https://aka.ms/vscode-mcp-schema', ...file };
  }
  return JSON.parse(clientConfigText('cursor', THEIR_LAUNCH, THEIR_NAME));
}

function importVsCode(input: unknown): unknown {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  try {
    const { servers, flaws } = vscode.parse(text, { workspace: '/w', env: {}, platform: 'linux' });
    if (servers.length === 0) return { error: 'CONFIG_ERROR' };
    return {
      upstreams: Object.fromEntries(servers.map(({ name, entry }) => [name, upstream(name, entry)])),
      skipped: flaws.map(({ name }) => name),
      warnings: flaws.length,
      replacement: replacement(typeof input === 'object' && input !== null ? input : {}),
    };
  } catch (error) {
    if (error instanceof UnreadableSource) return { error: 'CONFIG_ERROR' };
    throw error;
  }
}

export const configOperations: OperationTable = {
  vscode_import: { 'import VS Code mcp.json': { run: importVsCode } },
};
