/**
 * The environment of an upstream server: a small safe set of ours, then what its configuration says. Nothing of the
 * editor leaks into it, and nothing of the gateway.
 */
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

/** Marks every process that a worker started, and what those start in turn: its successor finds orphans by it. */
export const RUN_MARKER = 'WAYGATE_RUN';

export function childEnvironment(
  own: NodeJS.ProcessEnv,
  configured: Readonly<Record<string, string>>,
  run: string,
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
  return { ...environment, ...configured, [RUN_MARKER]: run };
}
