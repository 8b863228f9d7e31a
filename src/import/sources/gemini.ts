import type { RawServer } from '../readEntry.ts';
import { bareReferences } from '../references.ts';
import { jsonClient, valueAt } from '../sourceFile.ts';
import { inHome, inWorkspace } from '../surroundings.ts';

/** Gemini CLI: `httpUrl` is Streamable HTTP, a `url` without a type is SSE; `mcp` switches servers on and off. */
export const gemini = jsonClient({
  id: 'gemini',
  title: 'Gemini CLI',
  files: (at) => ({
    workspace: inWorkspace(at, '.gemini', 'settings.json'),
    user: inHome(at, '.gemini', 'settings.json'),
  }),

  table(root) {
    const excluded = listAt(valueAt(root, ['mcp', 'excluded']));
    const allowed = listAt(valueAt(root, ['mcp', 'allowed']));
    const isOff = (name: string): boolean => excluded?.includes(name) || (allowed ? !allowed.includes(name) : false);
    const normalise = ({ httpUrl, ...raw }: RawServer, name: string) => ({
      raw: {
        ...(httpUrl === undefined
          ? { ...(raw.url !== undefined && { type: 'sse' }), ...raw }
          : { ...raw, type: 'http', url: httpUrl }),
        ...(isOff(name) && { disabled: true }),
      },
    });
    return { path: ['mcpServers'], references: bareReferences, normalise, silent: ['description'] };
  },
});

function listAt(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}
