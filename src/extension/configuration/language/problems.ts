import type { ConfigurationProblem, GatewaySnapshot, ServerStatus } from '../../../control/contract.ts';
import { oneLine, quoted } from '../../../text/porcelain.ts';
import { t } from '../../l10n.ts';
import { asSentence } from '../../plainText.ts';
import { findingProblems, type ScannedServer } from '../../trust/findings.ts';

/** Problem as the editor shows it, at its place in a file. */
export interface EditorProblem extends Omit<ConfigurationProblem, 'severity' | 'code'> {
  severity: ConfigurationProblem['severity'] | 'information';
  code: ConfigurationProblem['code'] | 'failed_server' | 'waiting_server';
  /** Server that the problem is about, with its last lines on stderr. */
  server?: { status: ServerStatus; stderr: readonly string[] };
}

const STDERR_LINES = 3;

/**
 * Returns one problem for each mistake in a file, for each failed server and for each that waits for the user. A server
 * with a mistake in its entry has no second problem.
 */
export function editorProblems(
  { configuration, servers }: Pick<GatewaySnapshot, 'configuration' | 'servers'>,
  scanned: readonly ScannedServer[],
): EditorProblem[] {
  const { problems } = configuration;
  const isReported = ({ reason, location }: ServerStatus): boolean =>
    problems.some(
      (problem) =>
        problem.location.file === location?.file &&
        ((reason !== undefined && problem.message.startsWith(reason)) ||
          (problem.location.line === location.line && problem.location.column === location.column)),
    );
  return [
    ...problems,
    ...findingProblems(scanned),
    ...servers.flatMap((server) => (server.location && !isReported(server) ? serverProblem(server) : [])),
  ];
}

function serverProblem(status: ServerStatus): EditorProblem[] {
  const { state, reason, location, secret, stderr = [] } = status;
  if (!location) return [];
  const name = quoted(status.name);
  if (state === 'failed') {
    const message = reason ? t`The server ${name} failed: ${asSentence(reason)}` : t`The server ${name} failed.`;
    const last = stderr.slice(-STDERR_LINES).map((line) => oneLine(line, 300));
    return [{ severity: 'error', code: 'failed_server', message, location, server: { status, stderr: last } }];
  }
  const message = {
    needs_approval: t`The server ${name} waits for your approval. Nothing of it runs until then.`,
    needs_sign_in: t`The server ${name} needs you to sign in.`,
    needs_secret: t`The server ${name} needs the secret ${quoted(secret?.name ?? '')}, which is not set.`,
  }[state as string];
  if (message === undefined) return [];
  return [{ severity: 'information', code: 'waiting_server', message, location, server: { status, stderr: [] } }];
}
