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
/** Proxies, certificates, locales and the XDG folders: without them a server works in one place and not in another. */
const SAFE_PATTERN = /^(LC_\w+|XDG_\w+|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/**
 * Marks every server that a worker started, and what those start in turn, with the run and the start in it
 * (`ChildJournal.nextMark`): what outlives its server is found by it, and what outlives the worker.
 */
export const RUN_MARKER = 'WAYGATE_RUN';

/** The environment of an upstream server, by which all that it starts is known. */
export function childEnvironment(
  own: NodeJS.ProcessEnv,
  configured: Readonly<Record<string, string>>,
  mark: string,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  return { ...safeEnvironment(own, configured, platform), [RUN_MARKER]: mark };
}

/**
 * The environment of whatever is not ours: a small safe set of our own, then what is configured. Nothing of the editor
 * leaks into it, and nothing of the gateway.
 */
export function safeEnvironment(
  own: NodeJS.ProcessEnv,
  configured: Readonly<Record<string, string>> = {},
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const windows = platform === 'win32';
  const safe = new Set(windows ? SAFE_WINDOWS : SAFE_POSIX);
  // There `Path` and `PATH` are one variable, and of two Node would pass on whichever sorts first.
  const keyOf = (name: string): string => (windows ? name.toUpperCase() : name);
  const said = new Set(Object.keys(configured).map(keyOf));
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    const isSafe = safe.has(keyOf(name)) || SAFE_PATTERN.test(name);
    if (value !== undefined && isSafe && !said.has(keyOf(name))) environment[name] = value;
  }
  return { ...environment, ...configured };
}
