import { posix, win32 } from 'node:path';
import { isRecord } from '../../lib/isRecord.ts';
import { bracedReferences } from '../references.ts';
import type { ImportedServer, ParsedSource } from '../serverEntry.ts';
import { type ClientSource, type ParseContext, parseJson, readJsonServers, valueAt } from '../sourceFile.ts';
import { inWorkspace, movable, placesOf } from '../surroundings.ts';

/** Claude Code: the project's `.mcp.json`, and the user's file with its own servers and each project's. */
export const claudeCode: ClientSource = {
  id: 'claude-code',
  title: 'Claude Code',

  places: (at) =>
    placesOf('Claude Code', {
      workspace: inWorkspace(at, '.mcp.json'),
      user: movable(at, 'CLAUDE_CONFIG_DIR', [], '.claude.json'),
    }),

  parse(text, context) {
    const root = parseJson(text);
    const read = (path: readonly string[]) =>
      readJsonServers(root, { path, references: bracedReferences, scope: context });
    const projects = valueAt(root, ['projects']);
    const project = isRecord(projects) ? projectOf(projects, context) : undefined;
    const parts = [read(['mcpServers']), ...(project === undefined ? [] : [read(['projects', project, 'mcpServers'])])];
    const disabled = project === undefined ? [] : valueAt(root, ['projects', project, 'disabledMcpServers']);
    return {
      servers: parts.flatMap(({ servers }) => servers).map(markDisabled(disabled)),
      flaws: parts.flatMap(({ flaws }) => flaws),
      inputs: [],
    } satisfies ParsedSource;
  },
};

function projectOf(
  projects: Readonly<Record<string, unknown>>,
  { workspace, platform }: ParseContext,
): string | undefined {
  const { normalize } = platform === 'win32' ? win32 : posix;
  const key = (path: string): string => {
    const plain = normalize(path).replace(/[\\/]+$/, '');
    return platform === 'win32' ? plain.toLowerCase() : plain;
  };
  return Object.keys(projects).find((path) => key(path) === key(workspace));
}

function markDisabled(names: unknown): (server: ImportedServer) => ImportedServer {
  return (server) =>
    Array.isArray(names) && names.includes(server.name)
      ? { ...server, entry: { ...server.entry, disabled: true } }
      : server;
}
