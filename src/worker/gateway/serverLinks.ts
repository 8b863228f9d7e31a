import { join } from 'node:path';
import type { ServerConfig, StdioServerConfig } from '../../config/gatewayConfig.ts';
import { followReferences, SecretMissingError } from '../../config/secretReferences.ts';
import { secretsGiven } from '../../config/secretsGiven.ts';
import { secretKey } from '../../config/state/fileSecrets.ts';
import { ensurePrivateFolder } from '../../config/state/stateFolder.ts';
import type { MissingSecret } from '../../control/contract.ts';
import { knownSecrets } from '../../secrets/mask.ts';
import { type LaunchApprovals, needsApproval } from '../../trust/approvals.ts';
import type { Launch } from '../../trust/launch.ts';
import { type Walls, wallsOf } from '../../trust/walls.ts';
import { NOT_APPROVED } from '../../upstream/connection/connectionStatus.ts';
import type { SignIns } from '../../upstream/connection/signIns.ts';
import type { ChildJournal } from '../../upstream/process/childJournal.ts';
import type { OwnEnvironment } from '../../upstream/process/loginShellPath.ts';
import { HttpLink } from '../../upstream/transports/httpLink.ts';
import { staticLink } from '../../upstream/transports/staticLink.ts';
import { StdioLink, type StdioLinkOptions } from '../../upstream/transports/stdioLink.ts';
import { type LinkEvents, LinkFailure, type UpstreamLink } from '../../upstream/transports/upstreamLink.ts';
import { missingWalls } from '../../walls/machine.ts';
import { walledStart, wallsFolder } from '../../walls/wallsStart.ts';
import { recordsLink } from './recordsLink.ts';
import type { SharedSecrets } from './sharedSecrets.ts';

export interface ServerLinksOptions {
  /** Workspace in the storage keys of secrets. */
  workspace: string;
  stateFolder: string;
  stateRoot: string;
  journal: ChildJournal;
  environment: OwnEnvironment;
  secrets: SharedSecrets;
  signIns: SignIns;
  approvals: Pick<LaunchApprovals, 'approved'>;
}

const FOLDER_CHARS = 16;

/** Owner of the values that a server is given at its start. */
export function ownerKey(server: string): string {
  return `server ${server}`;
}

/** Opens links to servers, and looks up their secrets at each start. */
export class ServerLinks {
  readonly #options: ServerLinksOptions;
  readonly #missing = new Map<string, MissingSecret>();

  constructor(options: ServerLinksOptions) {
    this.#options = options;
  }

  /** Returns the secret that was missing at the server's last start. */
  missing(server: string): MissingSecret | undefined {
    return this.#missing.get(server);
  }

  /** Describes the walls of a program for `waygate status`. */
  wallsState(config: ServerConfig): string | undefined {
    if (config.type !== 'stdio') return undefined;
    const { workspace, environment } = this.#options;
    const walls = wallsOf(config, { workspace });
    const missing = walls ? missingWalls(walls, environment.path) : 'not asked for';
    return missing === undefined ? 'walled' : `no walls: ${missing}`;
  }

  async open(written: ServerConfig, events: LinkEvents): Promise<UpstreamLink> {
    // Start the approved launch itself: the configuration may have changed meanwhile.
    const launch = needsApproval(written) ? this.#approvedLaunch(written) : undefined;
    const config = await this.follow(written).catch((error: unknown) => {
      if (!(error instanceof SecretMissingError)) throw error;
      this.#missing.set(written.name, this.#missingSecret(error));
      throw new LinkFailure(error.message, 'secret_missing', undefined, error.secret);
    });
    // Kept until here, because the user may ask for the missing secret during the lookup.
    this.#missing.delete(written.name);
    const { journal, environment, signIns } = this.#options;
    if (config.type === 'static') return staticLink(config);
    if (config.type === 'records') return recordsLink(config, this.#options.stateFolder);
    if (config.type === 'stdio') {
      const walls = this.#walls(config, launch);
      const cwd = launch?.isApart ? this.#ownFolder(launch, walls && config.name) : config.cwd;
      const launcher = walls && this.#launcher(config, walls);
      const approved = launch && { program: launch.program };
      return new StdioLink({ ...config, cwd }, journal, events, { own: environment, approved, launcher });
    }
    return new HttpLink(config, events, signIns.sessionFor(config));
  }

  /**
   * Replaces the references in a configuration. The server will receive the values, so this process masks them from now
   * on.
   */
  async follow(written: ServerConfig): Promise<ServerConfig> {
    const { secrets } = this.#options;
    const kept: string[] = [];
    const config = await followReferences(written, secrets, (value) => kept.push(value));
    knownSecrets.learn(ownerKey(written.name), secretsGiven(config, kept));
    return config;
  }

  #approvedLaunch(written: ServerConfig): Launch {
    const launch = this.#options.approvals.approved(written);
    if (launch) return launch;
    throw new LinkFailure(NOT_APPROVED, 'needs_approval');
  }

  /** Returns the walls of a start; nothing if they are optional and the machine has none (T6.2). */
  #walls(config: StdioServerConfig, launch: Launch | undefined): Walls | undefined {
    const { workspace, environment } = this.#options;
    const walls = wallsOf(config, { workspace, program: launch?.program });
    const missing = walls && missingWalls(walls, environment.path);
    if (missing === undefined) return walls;
    if (walls?.isOptional) return undefined;
    throw new LinkFailure(`It starts only behind walls, and this machine has none: ${missing}.`, 'walls_missing');
  }

  #launcher({ name, location }: StdioServerConfig, walls: Walls): StdioLinkOptions['launcher'] {
    const { workspace, stateRoot } = this.#options;
    return (start, outside) =>
      walledStart(start, { walls, name, workspace, stateRoot, configFile: location.file }, outside);
  }

  /** Returns the folder of a package runner, so that it finds nothing of the workspace. */
  #ownFolder({ hash }: Launch, walled: string | undefined): string {
    const { stateRoot, workspace } = this.#options;
    if (walled !== undefined) return join(wallsFolder(workspace, walled), 'run');
    const folders = [join(stateRoot, 'run'), join(stateRoot, 'run', hash.slice(0, FOLDER_CHARS))];
    for (const folder of folders) ensurePrivateFolder(folder);
    return folders[1] as string;
  }

  #missingSecret({ secret, input }: SecretMissingError): MissingSecret {
    return {
      key: secretKey(secret, this.#options.workspace, this.#options.stateRoot),
      name: secret,
      description: input?.description ?? '',
      password: input === undefined || input.password,
      options: input?.options ?? [],
    };
  }
}
