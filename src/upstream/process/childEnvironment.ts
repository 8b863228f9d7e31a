import { absoluteParts } from '../../lib/findProgram.ts';

const SAFE_POSIX = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER', 'SSH_AUTH_SOCK'];
const SAFE_WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'OS',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERDOMAIN',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];
/** Proxies, certificates, locales and XDG folders: without them a server works in one place but not in another. */
const SAFE_PATTERN = /^(LC_\w+|XDG_\w+|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/**
 * Variable that marks every server and its descendants with the worker's run and the start (`ChildJournal.nextMark`).
 * The mark identifies processes that outlive their server or the worker.
 */
export const RUN_MARKER = 'WAYGATE_RUN';

/** Returns the environment of a server, including the mark. */
export function childEnvironment(
  own: NodeJS.ProcessEnv,
  configured: Readonly<Record<string, string>>,
  mark: string,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  return { ...safeEnvironment(own, configured, platform), [RUN_MARKER]: mark };
}

/**
 * Returns the environment of a foreign program: a small safe set of the worker's variables, then the configured ones.
 * Nothing of the editor or the gateway leaks.
 */
export function safeEnvironment(
  own: NodeJS.ProcessEnv,
  configured: Readonly<Record<string, string>> = {},
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const windows = platform === 'win32';
  const safe = new Set(windows ? SAFE_WINDOWS : SAFE_POSIX);
  // On Windows `Path` and `PATH` are one variable; of two, Node would pass whichever sorts first.
  const keyOf = (name: string): string => (windows ? name.toUpperCase() : name);
  const said = new Set(Object.keys(configured).map(keyOf));
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    const isSafe = safe.has(keyOf(name)) || SAFE_PATTERN.test(name);
    if (value === undefined || !isSafe || said.has(keyOf(name))) continue;
    // A relative folder would be one of the repository, for a script that looks for its interpreter too.
    environment[name] = keyOf(name) === 'PATH' ? absoluteParts(value, platform).join(windows ? ';' : ':') : value;
  }
  return { ...environment, ...configured };
}
