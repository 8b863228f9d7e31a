import { statSync } from 'node:fs';
import type { GatewayTarget } from '../host/attach/startWorker.ts';
import { localPath, type ReportNormalisation } from '../text/normalise.ts';
import { type CommandName, MAY_BE_ABSENT } from './commands.ts';
import type { OptionValues } from './options.ts';
import { NO_INPUT, UsageError } from './usageError.ts';

/** Which gateway a command is about. */
export function targetOf(command: CommandName, values: OptionValues, tell: ReportNormalisation): GatewayTarget {
  const workspace = existingFolder(values.workspace, tell);
  const configFile = givenPath('config', values, tell);
  const catalog = givenPath('catalog', values, tell);
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

/** The path that an option names, whole. An editor's own notation of a file is one too (`file_uri`). */
export function givenPath(option: string, values: OptionValues, tell: ReportNormalisation): string | undefined {
  const given = values[option];
  if (typeof given !== 'string') return undefined;
  if (given === '') throw new UsageError(`--${option} is empty; name the file, or leave the option out.`);
  return localFile(given, `--${option}`, tell);
}

/** `place` is the option that it is named with. */
export function localFile(given: string, place: string, tell: ReportNormalisation): string {
  const path = localPath(given, process.cwd());
  if (path === undefined) {
    throw new UsageError(`${given} names nothing on this machine; name a path with ${place}.`, NO_INPUT);
  }
  if (/^file:/i.test(given)) tell({ rule: 'file_uri', from: given, to: path });
  return path;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function existingFolder(given: OptionValues[string], tell: ReportNormalisation): string {
  if (given === '') throw new UsageError('--workspace is empty; name the folder, or leave the option out.');
  const folder = localFile(typeof given === 'string' ? given : '.', '--workspace', tell);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return folder;
  throw new UsageError(
    found
      ? `${folder} is not a folder; name the workspace's folder with --workspace.`
      : `the workspace folder ${folder} does not exist; name another with --workspace.`,
    NO_INPUT,
  );
}
