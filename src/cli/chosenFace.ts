import { configFile } from '../config/loadConfig.ts';
import { configuredFace } from '../config/readFaces.ts';
import type { Face } from '../ops/face.ts';

/** How the clients of one `waygate serve` see the servers: as its command line says, else as the file. */
export function chosenFace(workspace: string, mode: Face | undefined): Face {
  return mode ?? configuredFace(configFile(workspace));
}
