import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApprovalStore } from '../../calls/policy/approval.ts';
import { writeWhole } from '../../lib/writeWhole.ts';

/** Which tools the person has allowed for this workspace: in its own state, never in the workspace. */
export function approvalFile(folder: string, log: (line: string) => void): ApprovalStore {
  const file = join(folder, 'tool-approvals.json');
  return {
    load: () => {
      try {
        const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
        return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
      } catch {
        // Absent or damaged: then nothing is allowed, and the person is asked again.
        return [];
      }
    },
    save: (approved) => {
      try {
        writeWhole(file, JSON.stringify(approved), { mode: 0o600 });
      } catch (error) {
        log(`what was allowed for this workspace could not be written: ${(error as Error).message}`);
      }
    },
  };
}
