import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { configPlaces } from '../config/state/configPlaces.ts';
import { MAX_CONFIG_BYTES, readBoundedText } from '../lib/readBounded.ts';
import { DEFAULT_MODE, isMode, type Mode, workspaceMode } from '../link/mode.ts';
import type { ServeOptions } from './commands.ts';

/**
 * Returns the mode for one `waygate serve`: from the command line, else from the last configuration file that sets one.
 */
export function chosenMode({ workspace, configFile, catalog, mode }: ServeOptions): Mode {
  if (mode !== undefined || catalog !== undefined) return mode ?? DEFAULT_MODE;
  const modes = configPlaces(workspace, process.env, configFile).map(({ origin, file }) =>
    configuredMode(file, origin === 'workspace' ? workspace : undefined),
  );
  const [own, theirs] = modes.filter((one) => one !== undefined);
  return (theirs === undefined ? own : workspaceMode(own, theirs)) ?? DEFAULT_MODE;
}

/**
 * Returns the mode that a file asks for. The host needs it to answer a client before there is a worker, and reads
 * nothing else of the file; the worker reports errors in it.
 */
function configuredMode(file: string, within: string | undefined): Mode | undefined {
  let text: string;
  try {
    text = readBoundedText(file, { maxBytes: MAX_CONFIG_BYTES, within });
  } catch {
    return undefined;
  }
  if (!text.includes('"mode"')) return undefined;
  try {
    const root = parseTree(text, [], { allowTrailingComma: true });
    const mode: unknown = root?.type === 'object' ? findNodeAtLocation(root, ['mode'])?.value : undefined;
    return mode === undefined || isMode(mode) ? mode : DEFAULT_MODE;
  } catch {
    // The text nests too deep to be a configuration.
    return undefined;
  }
}
