import { join } from 'node:path';
import type { ApprovalStore } from '../../calls/policy/approval.ts';
import { readOwnText } from '../../lib/readBounded.ts';
import { writeWhole } from '../../lib/writeWhole.ts';

/**
 * Stores the tools that the user allowed for this workspace, in the workspace's state and never in the workspace
 * itself.
 */
export function approvalFile(folder: string, log: (line: string) => void): ApprovalStore {
  const file = join(folder, 'tool-approvals.json');
  return {
    load: () => {
      try {
        const value: unknown = JSON.parse(readOwnText(file));
        return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
      } catch {
        // If the file is absent or damaged, no tool is allowed and the user is asked again.
        return [];
      }
    },
    save: (approved) => {
      try {
        writeWhole(file, JSON.stringify(approved), { mode: 0o600 });
      } catch (error) {
        log(`the tool approvals of this workspace could not be saved: ${(error as Error).message}`);
      }
    },
  };
}
