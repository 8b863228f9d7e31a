import { configPlaces } from '../config/loadConfig.ts';
import { configuredFace } from '../config/readModes.ts';
import { DEFAULT_FACE, type Face } from '../link/mode.ts';
import type { ServeOptions } from './commands.ts';

/** How the clients of one `waygate serve` see the servers: as its command line says, else as the last file that says. */
export function chosenFace({ workspace, configFile, catalog, mode }: ServeOptions): Face {
  if (mode !== undefined || catalog !== undefined) return mode ?? DEFAULT_FACE;
  const faces = configPlaces(workspace, process.env, configFile).map(({ file }) => configuredFace(file));
  return faces.findLast((face) => face !== undefined) ?? DEFAULT_FACE;
}
