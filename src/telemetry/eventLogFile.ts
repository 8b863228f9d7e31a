import { join } from 'node:path';

/** Where the events of a workspace are: its own state folder. */
export function eventLogFile(stateFolder: string): string {
  return join(stateFolder, 'events.jsonl');
}
