import { isRecord } from '../../lib/isRecord.ts';
import type { RawServer } from '../readEntry.ts';
import { noReferences } from '../references.ts';
import { jsonClient } from '../sourceFile.ts';
import { applicationData, inHome, inWorkspace, joinPath } from '../surroundings.ts';

/** Zed: `context_servers`, whose command may be an object (older form), and some of which come from extensions. */
export const zed = jsonClient({
  id: 'zed',
  title: 'Zed',
  files: (at) => ({
    workspace: inWorkspace(at, '.zed', 'settings.json'),
    user:
      at.platform === 'win32'
        ? joinPath(at, applicationData(at), 'Zed', 'settings.json')
        : joinPath(at, at.env.XDG_CONFIG_HOME || inHome(at, '.config'), 'zed', 'settings.json'),
  }),
  table: () => ({ path: ['context_servers'], references: noReferences, normalise, silent: ['source'] }),
});

function normalise({ enabled, command, ...rest }: RawServer): { raw: RawServer } | string {
  if (rest.source === 'extension' || (command === undefined && rest.url === undefined && 'settings' in rest)) {
    return 'it belongs to a Zed extension, which does not reveal its command';
  }
  const disabled = enabled === false ? { disabled: true } : {};
  if (!isRecord(command)) return { raw: { ...(command !== undefined && { command }), ...rest, ...disabled } };
  const { path, ...parts } = command;
  return { raw: { command: path, ...parts, ...rest, ...disabled } };
}
