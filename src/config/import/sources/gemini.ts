import type { RawServer } from '../readEntry.ts';
import { bareReferences } from '../references.ts';
import { type ClientSource, parseJson, readJsonServers, valueAt } from '../sourceFile.ts';
import { inHome, inWorkspace } from '../surroundings.ts';

/** Gemini CLI: `httpUrl` is Streamable HTTP, a `url` without a type is SSE; `mcp` switches servers on and off. */
export const gemini: ClientSource = {
  id: 'gemini',
  title: 'Gemini CLI',

  places(at) {
    return [
      { file: inWorkspace(at, '.gemini', 'settings.json'), scope: 'workspace', title: 'Gemini CLI' },
      { file: inHome(at, '.gemini', 'settings.json'), scope: 'user', title: 'Gemini CLI' },
    ];
  },

  parse(text, scope) {
    const root = parseJson(text);
    const excluded = listAt(valueAt(root, ['mcp', 'excluded']));
    const allowed = listAt(valueAt(root, ['mcp', 'allowed']));
    const isOff = (name: string): boolean => excluded?.includes(name) || (allowed ? !allowed.includes(name) : false);
    const normalise = ({ httpUrl, ...raw }: RawServer, name: string) => ({
      raw: {
        ...(httpUrl === undefined
          ? { ...(raw['url'] !== undefined && { type: 'sse' }), ...raw }
          : { ...raw, type: 'http', url: httpUrl }),
        ...(isOff(name) && { disabled: true }),
      },
    });
    const table = { path: ['mcpServers'], references: bareReferences, scope, normalise, silent: ['description'] };
    return { ...readJsonServers(root, table), inputs: [] };
  },
};

function listAt(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}
