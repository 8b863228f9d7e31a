import { configPlaces } from '../config/loadConfig.ts';
import { configuredMode } from '../config/readModes.ts';
import { DEFAULT_MODE, type Mode } from '../link/mode.ts';
import type { ServeOptions } from './commands.ts';

/**
 * Returns the mode for one `waygate serve`: from the command line, else from the last configuration file that sets one.
 */
export function chosenMode({ workspace, configFile, catalog, mode }: ServeOptions): Mode {
  if (mode !== undefined || catalog !== undefined) return mode ?? DEFAULT_MODE;
  const modes = configPlaces(workspace, process.env, configFile).map(({ file }) => configuredMode(file));
  return modes.findLast((mode) => mode !== undefined) ?? DEFAULT_MODE;
}
