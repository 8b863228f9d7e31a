import type { ServerConfig } from '../../config/gatewayConfig.ts';
import type { ConnectionServices } from '../connection/connectionServices.ts';
import type { Bar } from '../connection/connectionStatus.ts';

/** What the person lets a server do. No supervisor can help what is missing here. */
export class Standing {
  readonly #config: () => ServerConfig;
  readonly #services: ConnectionServices;
  #barred: Bar | undefined;

  constructor(config: () => ServerConfig, services: ConnectionServices) {
    this.#config = config;
    this.#services = services;
  }

  get barred(): Bar | undefined {
    return this.#barred;
  }

  get approved(): boolean {
    return this.#services.isApproved?.(this.#config()) ?? true;
  }

  /** What an approval alone can lift is looked at anew. Returns whether something has changed. */
  recheck(): boolean {
    const barred = this.approved ? undefined : ('needs_approval' as const);
    const changed = barred !== this.#barred;
    this.#barred = barred;
    return changed;
  }

  signedOut(): void {
    this.#barred = 'needs_sign_in';
  }

  /** Whether a server that wants a sign-in may be asked again. */
  async mayTryAgain(): Promise<boolean> {
    if (!(await this.#services.mayTry?.(this.#config()))) return false;
    this.#barred = undefined;
    return true;
  }

  get approvalNote(): string {
    const { name } = this.#config();
    const subject = /^[\w.-]+$/.test(name) ? name : '--all';
    return `What it runs has not been approved for this workspace; see it and approve it: waygate approve ${subject}.`;
  }
}
