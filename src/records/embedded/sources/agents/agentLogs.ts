import { type Dirent, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { AgentName, AgentRecords } from './agentRecords.ts';
import { claudeCodeLine } from './claudeCode.ts';
import { codexLine } from './codex.ts';
import { copilotCliLine } from './copilotCli.ts';

/** Place of a line: the name of its session by the file, and the number of the line. */
export interface LogPlace {
  readonly name: string;
  readonly line: number;
}

/** Log format of an agent. `line` returns the session that the line belongs to. */
export interface AgentFormat {
  readonly agent: AgentName;
  readonly folder: string;
  readonly isLog: RegExp;
  line(records: AgentRecords, value: Record<string, unknown>, place: LogPlace): string;
}

export const AGENT_FORMATS: readonly AgentFormat[] = [
  { agent: 'claude-code', folder: '.claude/projects', isLog: /\.jsonl$/, line: claudeCodeLine },
  { agent: 'codex', folder: '.codex/sessions', isLog: /^rollout-.*\.jsonl$/, line: codexLine },
  { agent: 'copilot-cli', folder: '.copilot/session-state', isLog: /\.jsonl$/, line: copilotCliLine },
];

const MAX_DEPTH = 6;
const MAX_FILES = 20_000;

export interface LogFile {
  readonly format: AgentFormat;
  readonly path: string;
  readonly size: number;
  readonly modified: number;
}

/** Returns the logs of all agents, the newest first. Links are not followed. */
export function agentLogs(home: string): LogFile[] {
  const found = AGENT_FORMATS.flatMap((format) =>
    walked(join(home, format.folder), format.isLog).flatMap((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat ? [{ format, path, size: stat.size, modified: stat.mtimeMs }] : [];
    }),
  );
  return found.sort((a, b) => b.modified - a.modified);
}

function walked(folder: string, isLog: RegExp, depth = 0): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  const paths: string[] = [];
  for (const entry of entries) {
    if (paths.length >= MAX_FILES) break;
    const path = join(folder, entry.name);
    if (entry.isFile() && isLog.test(entry.name)) paths.push(path);
    else if (entry.isDirectory() && depth < MAX_DEPTH) paths.push(...walked(path, isLog, depth + 1));
  }
  return paths;
}

/** Name of the session of a log: of the file, or of the folder with its `events.jsonl`. */
export function sessionName(path: string): string {
  const name = basename(path, '.jsonl');
  return name === 'events' ? basename(dirname(path)) : name;
}
