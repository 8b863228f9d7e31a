import { posix, win32 } from 'node:path';
import { isRecord } from '../../lib/isRecord.ts';
import { staysOff } from '../readEntry.ts';
import { bracedReferences } from '../references.ts';
import type { ImportedServer, ParsedSource } from '../serverEntry.ts';
import {
  type ClientSource,
  type ParseContext,
  parseJson,
  readJsonServers,
  UnreadableSource,
  valueAt,
} from '../sourceFile.ts';
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

  beside: (at) => [
    inWorkspace(at, '.claude', 'settings.local.json'),
    inWorkspace(at, '.claude', 'settings.json'),
    movable(at, 'CLAUDE_CONFIG_DIR', ['.claude'], 'settings.json'),
    movable(at, 'CLAUDE_CONFIG_DIR', [], '.claude.json'),
  ],

  parse(text, context) {
    const root = parseJson(text);
    const read = (path: readonly string[]) =>
      readJsonServers(root, { path, references: bracedReferences, scope: context, timeout: 'ms' });
    const projects = valueAt(root, ['projects']);
    const project = isRecord(projects) ? projectOf(projects, context) : undefined;
    const parts = [read(['mcpServers']), ...(project === undefined ? [] : [read(['projects', project, 'mcpServers'])])];
    const limits = limitsOf(text, context, projects === undefined ? '.mcp.json' : '.claude.json');
    return {
      servers: parts.flatMap(({ servers }) => servers).map((server) => limited(server, limits)),
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

interface Limits {
  disabled: ReadonlySet<unknown>;
  /** Rules of `permissions.deny`: `mcp__SERVER` or `mcp__SERVER__TOOL`. */
  denied: readonly string[];
  unreadable: boolean;
}

/** Collects what the user has switched off: in the file itself, in settings, and for this project. */
function limitsOf(text: string, context: ParseContext, file: '.mcp.json' | '.claude.json'): Limits {
  let unreadable = false;
  const roots = [text, ...(context.beside ?? [])].flatMap((one): Readonly<Record<string, unknown>>[] => {
    try {
      const value = valueAt(parseJson(one), []);
      if (!isRecord(value)) return [];
      const projects = isRecord(value.projects) ? value.projects : {};
      const own = projects[projectOf(projects, context) ?? ''];
      return isRecord(own) ? [value, own] : [value];
    } catch (error) {
      if (!(error instanceof UnreadableSource)) throw error;
      unreadable = true;
      return [];
    }
  });
  const key = file === '.mcp.json' ? 'disabledMcpjsonServers' : 'disabledMcpServers';
  const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const denied = roots.flatMap(({ permissions }) => listed(isRecord(permissions) ? permissions.deny : undefined));
  return {
    disabled: new Set(roots.flatMap((root) => listed(root[key]))),
    denied: [...new Set(denied)].filter((rule) => typeof rule === 'string'),
    unreadable,
  };
}

function limited(server: ImportedServer, { disabled, denied, unreadable }: Limits): ImportedServer {
  const { name, entry, notes } = server;
  const prefix = `mcp__${name.replace(/[^\w-]/g, '_')}`;
  const tools = denied.filter((rule) => rule.startsWith(`${prefix}__`)).map((rule) => rule.slice(prefix.length + 2));
  const isOff = disabled.has(name) || denied.includes(prefix) || unreadable;
  return {
    ...server,
    entry: {
      ...entry,
      ...(tools.length > 0 && { tools: { ...entry.tools, exclude: [...(entry.tools?.exclude ?? []), ...tools] } }),
      ...(isOff && { disabled: true }),
    },
    notes: unreadable ? [...notes, staysOff('the settings of Claude Code cannot be read')] : notes,
  };
}
