import { join } from 'node:path';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { followReferences, SecretMissingError } from '../../config/secretReferences.ts';
import { secretsGiven } from '../../config/secretsGiven.ts';
import { secretKey } from '../../config/state/fileSecrets.ts';
import { ensurePrivateFolder } from '../../config/state/stateFolder.ts';
import type { MissingSecret } from '../../control/contract.ts';
import { knownSecrets } from '../../secrets/mask.ts';
import { type LaunchApprovals, needsApproval } from '../../trust/approvals.ts';
import type { Launch } from '../../trust/launch.ts';
import type { SignIns } from '../../upstream/connection/signIns.ts';
import type { ChildJournal } from '../../upstream/process/childJournal.ts';
import type { OwnEnvironment } from '../../upstream/process/loginShellPath.ts';
import { HttpLink } from '../../upstream/transports/httpLink.ts';
import { StaticLink } from '../../upstream/transports/staticLink.ts';
import { StdioLink } from '../../upstream/transports/stdioLink.ts';
import { type LinkEvents, LinkFailure, type UpstreamLink } from '../../upstream/transports/upstreamLink.ts';
import type { SharedSecrets } from './sharedSecrets.ts';

export interface ServerLinksOptions {
  /** Workspace in the storage keys of secrets. */
  workspace: string;
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

  async open(written: ServerConfig, events: LinkEvents): Promise<UpstreamLink> {
    // What starts is the approved launch itself, whatever the configuration says meanwhile.
    const launch = needsApproval(written) ? this.#approvedLaunch(written) : undefined;
    const config = await this.follow(written).catch((error: unknown) => {
      if (!(error instanceof SecretMissingError)) throw error;
      this.#missing.set(written.name, this.#missingSecret(error));
      throw new LinkFailure(error.message, 'secret_missing');
    });
    // Kept until here, because the user may ask for the missing secret during the lookup.
    this.#missing.delete(written.name);
    const { journal, environment, signIns } = this.#options;
    if (config.type === 'static') return new StaticLink(config);
    if (config.type === 'stdio') {
      const cwd = launch?.isApart ? this.#ownFolder(launch) : config.cwd;
      return new StdioLink({ ...config, cwd }, journal, events, environment, launch && { program: launch.program });
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
    throw new LinkFailure('It has not been approved for this workspace.', 'needs_approval');
  }

  /** Returns the folder of a package runner, so that it finds nothing of the workspace. */
  #ownFolder({ hash }: Launch): string {
    const { stateRoot } = this.#options;
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
