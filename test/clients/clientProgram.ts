import type { Address, WireTransport } from '../support/wire/eraWorld.ts';

export interface WantedCall {
  server: string;
  /** Argument of `echo`. */
  text: string;
}

/** Text that a client read about the call of each server. */
export type Read = Map<string, string>;

/** MCP client from npm, in one of its settings. */
export interface ClientProgram {
  name: string;
  version: string;
  /** Transports that it does not have, with the reason. */
  lacks?: Partial<Record<WireTransport, string>>;
  /** Connects, and finds and calls the tool of each server. Throws the client's own words where that fails. */
  run(address: Address, calls: readonly WantedCall[], folder: string): Promise<Read>;
}
