import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { answerLines } from '../../../mcp/session/answerLines.ts';
import {
  type ClientCredential,
  credentialFile,
  isToken,
  readCredentials,
} from '../../../records/grants/credentialCache.ts';
import { type OpenGrants, openGrants } from '../../../records/grants/openGrants.ts';
import { CredentialError, refuseOwnerEnvironment, refuseOwnerKind } from '../../../records/grants/ownerCredentials.ts';
import { ProviderError } from '../../../records/provider/providerError.ts';
import type { RecordProvider } from '../../../records/provider/recordProvider.ts';
import { recordAddress } from '../../../records/remote/recordAddress.ts';
import { recordServer } from '../../../records/server/recordServer.ts';
import { oneLine } from '../../../text/porcelain.ts';
import type { RecordsCommand } from '../../commands.ts';
import { printProblem } from '../../print.ts';
import { UsageError } from '../../usageError.ts';
import { defaultProvider } from './defaultProvider.ts';

/** EX_NOPERM and EX_CONFIG. */
const OWNER_REFUSED = 77;
const NO_CREDENTIAL = 78;

/** Longest wait for the check of the tokens before the session begins; reads wait for it in any case. */
const CHECK_MS = 5_000;

const MAX_NAME_CHARS = 64;

const IN_A_TERMINAL =
  'this MCP server waits for a client on its standard input. Clients start it themselves. Ctrl-C ends it.';

/** Runs the record surface on stdio (R6). Only protocol goes to stdout; messages for people go to stderr. */
export async function serveRecords(command: RecordsCommand, env: NodeJS.ProcessEnv = process.env): Promise<number> {
  try {
    refuseOwnerEnvironment(env);
    const provider = await providerFor(command, env);
    if (process.stdin.isTTY) printProblem(IN_A_TERMINAL);
    const name = command.serverName ?? variable(env, 'WAYGATE_RECORDS_SERVER_NAME', 'PDPP_MCP_SERVER_NAME');
    await answerLines(process.stdin, process.stdout, recordServer(provider, name && oneLine(name, MAX_NAME_CHARS)));
    await provider.dispose();
    return 0;
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    throw new UsageError(error.message, error.kind === 'owner' ? OWNER_REFUSED : NO_CREDENTIAL);
  }
}

async function providerFor(command: RecordsCommand, env: NodeJS.ProcessEnv): Promise<RecordProvider> {
  const given = command.providerUrl ?? variable(env, 'WAYGATE_RECORDS_PROVIDER_URL', 'PDPP_PROVIDER_URL');
  if (given === undefined) return defaultProvider(command);
  const url = recordAddress(given);
  if (url === undefined) {
    throw new UsageError(
      '--provider-url must be an address like "https://host", without a user, a password or a query; http is for this machine only.',
    );
  }
  return checked(openGrants(url, credentialsFor(command, url, env)));
}

function credentialsFor(command: RecordsCommand, url: string, env: NodeJS.ProcessEnv): ClientCredential[] {
  const token = variable(env, 'WAYGATE_RECORDS_TOKEN');
  if (token !== undefined) {
    refuseOwnerKind({ kind: env.WAYGATE_RECORDS_TOKEN_KIND }, 'WAYGATE_RECORDS_TOKEN_KIND');
    if (isToken(token)) return [{ token }];
    throw new CredentialError('unusable', 'WAYGATE_RECORDS_TOKEN has characters that no bearer token has.');
  }
  const root = command.cacheRoot ?? resolve(variable(env, 'WAYGATE_RECORDS_CACHE', 'PDPP_CACHE_ROOT') ?? '.pdpp');
  return readCredentials(credentialFile(root, url), url, Date.now());
}

/** Returns the first variable with a value. */
function variable(env: NodeJS.ProcessEnv, ...names: readonly string[]): string | undefined {
  return names.map((name) => env[name]?.trim()).find((value) => value !== undefined && value !== '');
}

/** Checks the tokens before the session begins. A provider that does not answer yet is checked at the first read. */
async function checked({ provider, check }: OpenGrants): Promise<RecordProvider> {
  const outcome = check();
  const late = new AbortController();
  const grants = await Promise.race([
    outcome.catch((error: unknown) => {
      const isRefused = error instanceof ProviderError && error.code === 'owner_credential_refused';
      throw isRefused ? new CredentialError('owner', error.message) : error;
    }),
    pause(CHECK_MS, undefined, { signal: late.signal }).catch(() => undefined),
  ]);
  late.abort();
  outcome.catch(() => undefined);
  if (grants && grants.length > 0 && grants.every(({ answer }) => answer?.status === 401)) {
    throw new CredentialError('unusable', 'the record provider rejects the credential (401); sign in again.');
  }
  for (const { failure } of grants ?? []) if (failure !== undefined) printProblem(failure);
  return provider;
}
