import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { canonicalWorkspace } from '../config/state/stateFolder.ts';
import type { GatewayTarget } from '../host/attach/startWorker.ts';
import { holds } from '../lib/readBounded.ts';
import { localPath, type ReportNormalisation } from '../text/normalise.ts';
import { type CommandName, MAY_BE_ABSENT } from './commands.ts';
import type { OptionValues } from './options.ts';
import { NO_INPUT, UsageError } from './usageError.ts';

/** Resolves which gateway a command addresses. */
export function targetOf(command: CommandName, values: OptionValues, report: ReportNormalisation): GatewayTarget {
  const workspace = existingFolder(values.workspace, report);
  const configFile = givenPath('config', values, report);
  const catalog = givenPath('catalog', values, report);
  if (configFile !== undefined && catalog !== undefined) {
    throw new UsageError('--catalog and --config exclude each other; give one.');
  }
  const mustExist = !MAY_BE_ABSENT.has(command);
  if (configFile !== undefined && mustExist && !isFile(configFile)) {
    throw new UsageError(
      `the configuration ${configFile} does not exist or is no file; name it with --config.`,
      NO_INPUT,
    );
  }
  if (catalog !== undefined && mustExist && !isFile(catalog)) {
    throw new UsageError(`there is no catalog file ${catalog}; name one with --catalog.`, NO_INPUT);
  }
  return { workspace, ...(configFile !== undefined && { configFile }), ...(catalog !== undefined && { catalog }) };
}

/** Returns the absolute path from an option, which may also be a `file://` URI (`file_uri`). */
export function givenPath(option: string, values: OptionValues, report: ReportNormalisation): string | undefined {
  const given = values[option];
  if (typeof given !== 'string') return undefined;
  if (given === '') throw new UsageError(`--${option} is empty; name the file, or leave the option out.`);
  return localFile(given, `--${option}`, report);
}

/** Resolves a local path; `place` is the option it comes from. */
export function localFile(given: string, place: string, report: ReportNormalisation): string {
  const path = localPath(given, process.cwd());
  if (path === undefined) {
    throw new UsageError(`${given} is not a path on this machine; give a local path with ${place}.`, NO_INPUT);
  }
  if (/^file:/i.test(given)) report({ rule: 'file_uri', from: given, to: path });
  return path;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * Returns the folder of a gateway without `--workspace`. Clients start the server of an Agent Plugin in the plugin's own
 * folder: `PWD` is then the client's folder if it passes that on, and without it only the user's own servers are meant.
 */
export function ownFolder(env: NodeJS.ProcessEnv = process.env, cwd: string = process.cwd()): string {
  const { PLUGIN_ROOT: plugin, PWD: from } = env;
  if (!plugin || !holds(plugin, cwd)) return '.';
  return from && isAbsolute(from) && isFolder(from) && !holds(plugin, from) ? from : homedir();
}

function existingFolder(given: OptionValues[string], report: ReportNormalisation): string {
  if (given === '') throw new UsageError('--workspace is empty; name the folder, or leave the option out.');
  const folder = localFile(typeof given === 'string' ? given : ownFolder(), '--workspace', report);
  const found = statSync(folder, { throwIfNoEntry: false });
  // Approvals, state and the worker's paths belong to the folder, whatever link led to it.
  if (found?.isDirectory()) return canonicalWorkspace(folder);
  throw new UsageError(
    found
      ? `${folder} is not a folder; name the workspace's folder with --workspace.`
      : `the workspace folder ${folder} does not exist; name another with --workspace.`,
    NO_INPUT,
  );
}
