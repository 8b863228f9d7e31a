import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { canonicalJson } from '../../catalog/canonicalJson.ts';
import { asLine, type ConfigurationProblem, hasOwnListing, type ServerConfig } from '../../config/gatewayConfig.ts';
import { SecretMissingError } from '../../config/secretReferences.ts';
import { FileTokens } from '../../config/state/fileTokens.ts';
import { rootOf } from '../../config/state/stateFolder.ts';
import type { ControlHandlers } from '../../control/channel.ts';
import type { SecretAnswer, SecretRequest } from '../../control/contract.ts';
import { followFile } from '../../lib/followFile.ts';
import { grantKey } from '../../mcp/oauth/tokenStore.ts';
import { RESTART_LIMITS, type RestartLimits } from '../../supervision/restartPolicy.ts';
import { didYouMean } from '../../text/nearest.ts';
import { LaunchApprovals, needsApproval } from '../../trust/approvals.ts';
import { shownLines } from '../../trust/launch.ts';
import { lockFileOf } from '../../trust/pins/lockFile.ts';
import { adoptPinsOf, pinsOf } from '../../trust/pins/pinnedItems.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { type PoolEvents, ServerPool } from '../../upstream/connection/serverPool.ts';
import { SignInError, SignIns } from '../../upstream/connection/signIns.ts';
import { CatalogSnapshots } from '../../upstream/listing/catalogSnapshots.ts';
import { ServerEras } from '../../upstream/listing/serverEras.ts';
import { ChildJournal } from '../../upstream/process/childJournal.ts';
import { OwnEnvironment } from '../../upstream/process/loginShellPath.ts';
import { killMarked } from '../../upstream/process/processTree.ts';
import { StartQueue } from '../../upstream/start/startQueue.ts';
import { missingWalls } from '../../walls/machine.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { ServerLinks } from './serverLinks.ts';
import { ServerTrust } from './serverTrust.ts';
import { SharedSecrets } from './sharedSecrets.ts';
import { SharedTokens } from './sharedTokens.ts';
import { UserReview } from './userReview.ts';

export interface GatewayServersOptions
  extends Pick<
    PoolEvents,
    'onChange' | 'onConnection' | 'onSessionConnection' | 'signIn' | 'log' | 'scrubSecrets' | 'maskKnown'
  > {
  workspace: string;
  /** File given by the user, which replaces all others. */
  configFile?: string;
  stateFolder: string;
  configuration: Configuration;
  /** Accesses the editor's own store of secrets. */
  secret(request: SecretRequest): Promise<SecretAnswer>;
  /** Called after a sign-out: no answer that the user got while signed in may be given again. */
  onSignedOut(): void;
}

/** Polling detects changes of a file on every system. */
const POLL_MS = 1_000;

/** Servers of a gateway, with the user's approvals, secrets and sign-ins. */
export class GatewayServers {
  readonly pool: ServerPool;
  readonly links: ServerLinks;
  readonly trust: ServerTrust;
  readonly review: UserReview;
  readonly signInRequests: SignInRequests;
  readonly approvals: LaunchApprovals;
  readonly #options: GatewayServersOptions;
  readonly #journal: ChildJournal;
  readonly #environment: OwnEnvironment;
  readonly #tokens: SharedTokens;
  readonly #secrets: SharedSecrets;
  readonly #signIns: SignIns;
  readonly #snapshots: CatalogSnapshots;
  readonly #eras: ServerEras;
  #approvalsFlaw: string | undefined;
  #superseded = false;
  /** Ends of the watches of files. */
  #following: readonly (() => void)[] = [];
  readonly #approvedInStep = new Map<ServerConfig, boolean>();

  constructor(options: GatewayServersOptions) {
    this.#options = options;
    const { workspace, stateFolder, configuration, log, secret } = options;
    const stateRoot = rootOf(stateFolder);
    this.#environment = new OwnEnvironment(process.env, log);
    const path = (): string | undefined => this.#environment.path;
    this.approvals = new LaunchApprovals({ stateRoot, workspace, path, missingWalls });
    this.#tokens = new SharedTokens(new FileTokens(stateRoot), secret);
    this.#secrets = new SharedSecrets(stateRoot, workspace, secret);
    this.#signIns = new SignIns(this.#tokens);
    this.#journal = new ChildJournal(stateFolder);
    this.links = new ServerLinks({
      workspace,
      stateFolder,
      stateRoot,
      journal: this.#journal,
      environment: this.#environment,
      secrets: this.#secrets,
      signIns: this.#signIns,
      approvals: this.approvals,
    });
    this.#snapshots = new CatalogSnapshots(join(stateFolder, 'catalogs'), log, { of: pinsOf, adopt: adoptPinsOf });
    this.#eras = new ServerEras(join(stateFolder, 'eras.json'), log);
    this.trust = new ServerTrust({
      approvals: this.approvals,
      lock: { file: lockFileOf(workspace, options.configFile), workspace },
      connections: () => this.pool.connections,
      stateRoot,
      stateFolder,
      log,
      onChange: options.onChange,
    });
    this.review = new UserReview(this.trust);
    this.pool = new ServerPool(
      {
        openLink: (config, events) => this.links.open(config, events),
        mayTry: (config) => this.#signIns.mayTry(config),
        isApproved: (config) => this.#isApproved(config),
        snapshots: this.#snapshots,
        eras: this.#eras,
        gate: this.trust,
        idleMs: () => (this.#superseded ? 0 : configuration.current.settings.idleMinutes * 60_000),
        startTimeoutMs: () => configuration.current.settings.startup.timeoutSeconds * 1_000,
        liveRefresh: () => configuration.current.settings.liveRefresh,
        restartLimits: restartLimits(process.env),
        startQueue: new StartQueue(),
      },
      options,
    );
    this.signInRequests = signInRequests(this.#signIns, this.pool, {
      follow: (config) => this.links.follow(config),
      onSignedOut: () => options.onSignedOut(),
    });
  }

  start(): void {
    const { log } = this.#options;
    void this.#journal.orphansEnded.then((n) => {
      if (n > 0) log(`ended ${n} server processes that a killed worker left running`);
    });
    this.#following = [
      // The editor, the command line or another window may write the file.
      followFile(this.approvals.file, this.#onApprovals, POLL_MS),
      // Another worker of the workspace may write the pins, or the user may restore them.
      followFile(this.trust.pinsFile, () => this.#options.onChange(), POLL_MS),
    ];
    this.#onApprovals();
    this.#reconcilePool();
  }

  /** Makes the servers match the configuration in force. Unchanged ones keep their process. */
  reconcile(): void {
    this.#reconcilePool();
    this.dropSnapshots();
  }

  /** Removes stored listings and eras of servers that the configuration does not name. */
  dropSnapshots(): void {
    const { servers, broken } = this.#options.configuration.current;
    const names = [...servers, ...broken].map(({ name }) => name);
    this.#snapshots.keepOnly(names);
    this.#eras.keepOnly(names);
  }

  /** Stops each server after its last running call; idle ones stop at once. */
  supersede(): void {
    this.#superseded = true;
    this.#unfollow();
    for (const connection of this.pool.connections) {
      connection.config = { ...connection.config, keepAlive: false };
      // An empty hold makes the connection check whether it is idle.
      connection.hold()();
    }
  }

  /** Prevents new sign-ins and starts. */
  close(): void {
    this.#signIns.stop();
    this.#unfollow();
  }

  async stop(): Promise<void> {
    await this.pool.stop();
    await killMarked(this.#journal.run);
    await this.#journal.close();
  }

  /** Approves definitions by the hash that the user saw, so a server that changed meanwhile is not approved. */
  approve(hashes: readonly string[]): void {
    const launches = this.#waiting.map((config) => this.approvals.launch(config));
    const approved = launches.filter(({ hash }) => hashes.includes(hash));
    const shown = approved.map((launch) => shownLines(launch, this.approvals.before(launch)));
    this.approvals.approve(approved);
    for (const [index, launch] of approved.entries()) this.review.recordLaunch(launch, shown[index] ?? []);
    this.#onApprovals();
  }

  /** Checks again whether waiting servers can start, since their approval, secret or sign-in may exist now. */
  recheck(): void {
    void this.#learnSecrets(this.#options.configuration.current.servers).catch(() => undefined);
    this.pool.recheck();
    void this.#recheckSignIns();
  }

  isSignedIn(name: string): boolean | undefined {
    return this.#signIns.isSignedIn(name);
  }

  /** Answers equal questions of one step of the event loop once: a worker that starts asks three times for each server. */
  #isApproved(config: ServerConfig): boolean {
    if (!needsApproval(config)) return true;
    const known = this.#approvedInStep.get(config);
    if (known !== undefined) return known;
    if (this.#approvedInStep.size === 0) queueMicrotask(() => this.#approvedInStep.clear());
    const approved = this.approvals.isApproved(config);
    this.#approvedInStep.set(config, approved);
    return approved;
  }

  #reconcilePool(): void {
    const { servers } = this.#options.configuration.current;
    const enabled = servers.filter(({ disabled }) => !disabled);
    void this.#learnSecrets(servers).catch(() => undefined);
    this.pool.reconcile(enabled.map((config) => ({ config, startedWith: startedWith(config) })));
    if (this.#waiting.length > 0) void this.#findPrograms();
  }

  /**
   * Learns the secrets and tokens of servers that have not started yet: an earlier worker may have given them, so they
   * are masked and kept from other servers (T5.5).
   */
  async #learnSecrets(servers: readonly ServerConfig[]): Promise<void> {
    const approved = servers.filter((config) => this.#isApproved(config));
    await Promise.all([
      this.#secrets.learnStored(),
      ...approved.map(async (written) => {
        const config = await this.links.follow(written).catch(() => undefined);
        // Reading a token learns it.
        if (config && 'headers' in config) await this.#tokens.get(grantKey(config.name, config.url));
      }),
    ]);
  }

  /** Servers that wait for an approval. */
  get #waiting(): readonly ServerConfig[] {
    const { servers } = this.#options.configuration.current;
    return servers.filter((one) => !one.disabled && !this.#isApproved(one));
  }

  /** Looks up programs where a login shell finds them, so that the user approves the ones that would run. */
  async #findPrograms(): Promise<void> {
    await this.#environment.forStart();
    const isMissing = (one: ServerConfig): boolean => one.type === 'stdio' && !this.approvals.launch(one).program;
    if (this.#waiting.some(isMissing)) await this.#environment.forMissing();
    this.#options.onChange();
  }

  /** Problem of the file of approvals, which counts as empty until the user mends it. */
  get problems(): ConfigurationProblem[] {
    if (this.#approvalsFlaw === undefined) return [];
    const { file } = this.approvals;
    const message = `The approvals cannot be read (${this.#approvalsFlaw}), so none counts. Remove the file and approve the servers again.`;
    return [{ severity: 'error', code: 'file', message, location: { file, line: 1, column: 1 } }];
  }

  readonly #onApprovals = (): void => {
    this.#approvedInStep.clear();
    const before = this.#approvalsFlaw;
    this.#approvalsFlaw = this.approvals.flaw;
    this.pool.recheck();
    if (this.#approvalsFlaw === before) return;
    for (const problem of this.problems) this.#options.log(`error: ${asLine(problem)}`);
    this.#options.onChange();
  };

  #unfollow(): void {
    for (const end of this.#following) end();
    this.#following = [];
  }

  async #recheckSignIns(): Promise<void> {
    const canStart = (config: ServerConfig): Promise<boolean> => this.#signIns.mayTry(config);
    for (const connection of this.pool.connections) {
      if (connection.state === 'needs_sign_in' && (await canStart(connection.config))) void connection.start();
    }
  }
}

/**
 * Returns a hash of everything that a start of the server uses. Other keys of its entry apply to the running server.
 */
export function startedWith(config: ServerConfig): string {
  const { location, tools, required, keepAlive, startTimeoutSeconds, inputs = [], ...started } = config;
  // The words of an input are for the question alone.
  const used = inputs.map(({ id, default: value, password }) => ({ id, value, password }));
  return createHash('sha256')
    .update(canonicalJson([started, used]))
    .digest('hex');
}

/** Reads `WAYGATE_RESTART_LIMITS` (JSON), for tests that kill a server more often than it could crash in practice. */
function restartLimits({ WAYGATE_RESTART_LIMITS: given }: NodeJS.ProcessEnv): RestartLimits {
  return { ...RESTART_LIMITS, ...(given ? (JSON.parse(given) as Partial<RestartLimits>) : {}) };
}

type SignInRequests = Pick<ControlHandlers, 'signIn' | 'signInEnd' | 'signOut'>;

/** Requests by which the editor and the command line sign the user in to a server, and out. */
function signInRequests(
  signIns: SignIns,
  pool: ServerPool,
  { follow, onSignedOut }: { follow(config: ServerConfig): Promise<ServerConfig>; onSignedOut(): void },
): SignInRequests {
  return {
    signIn: ({ server }) =>
      answerOrReason(async () => ({ url: await signIns.begin(serverNamed(server, pool), () => pool.get(server)) })),
    signInEnd: async ({ server }) => {
      const reason = await signIns.ended(server);
      return reason === undefined ? {} : { reason };
    },
    signOut: ({ server }) =>
      answerOrReason(async () => {
        const connection = serverNamed(server, pool);
        const config = await follow(connection.config);
        if (config.type === 'stdio' || hasOwnListing(config)) return { wasSignedIn: false };
        const wasSignedIn = await signIns.signOut(connection, config);
        onSignedOut();
        return { wasSignedIn };
      }),
  };
}

/** Turns errors meant for the user into answers; throws all others. */
async function answerOrReason<T>(run: () => Promise<T>): Promise<T | { reason: string }> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof SignInError || error instanceof SecretMissingError) return { reason: error.message };
    throw error;
  }
}

function serverNamed(name: string, pool: ServerPool): ServerConnection {
  const connection = pool.get(name);
  if (connection) return connection;
  const known = pool.connections.map(({ config }) => config.name);
  const remedy = didYouMean(name, known, known.length > 1 ? undefined : `there is ${known[0] ?? 'none'}.`);
  throw new SignInError(`There is no server "${name}"; ${remedy}`);
}
