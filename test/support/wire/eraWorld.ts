import { join, resolve } from 'node:path';
import { bundled } from '../bundledFixtures.ts';
import { HostProcess, until } from '../hostProcess.ts';
import { HttpProcess } from '../httpProcess.ts';
import { httpServer, modernHttpServer } from '../httpServer.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE } from '../workspace.ts';
import { type Recorded, recordedIn, type Spoken, spokenFor } from './recorded.ts';
import { recordingProxy } from './recordingProxy.ts';

export const TRANSPORTS = ['stdio', 'HTTP'] as const;
export type WireTransport = (typeof TRANSPORTS)[number];
export const ERAS = ['legacy', 'dual', 'modern'] as const;

/** Server behind the gateway: `legacy` knows sessions only, `modern` revision 2026-07-28 only, `dual` both. */
export interface Upstream {
  name: string;
  era: (typeof ERAS)[number];
  transport: WireTransport;
}

export const UPSTREAMS: readonly Upstream[] = ERAS.flatMap((era) =>
  TRANSPORTS.map((transport) => ({ name: `${era}-${transport.toLowerCase()}`, era, transport })),
);

/** Further server, about whose calls the user is asked. */
export const GUARDED = 'guarded';

/** Connection to the gateway for one client, as its configuration names it. */
export type Address = { command: string; args: string[]; env: Record<string, string> } | { url: string };

export interface ClientLine {
  address: Address;
  frames(): Recorded[];
}

/** Gateway with a server of each era on each transport, where every conversation is recorded. */
export class EraWorld {
  readonly workspace: TestWorkspace;
  readonly #upstreamFrames: Map<string, () => Recorded[]>;
  readonly #gateway: string;
  #lines = 0;

  private constructor(workspace: TestWorkspace, upstreamFrames: Map<string, () => Recorded[]>, gateway: string) {
    this.workspace = workspace;
    this.#upstreamFrames = upstreamFrames;
    this.#gateway = gateway;
  }

  static async open(): Promise<EraWorld> {
    const workspace = testWorkspace();
    const frames = new Map<string, () => Recorded[]>();
    const entries: Record<string, object> = {};
    for (const upstream of UPSTREAMS) {
      if (upstream.transport === 'stdio') {
        const file = join(workspace.folder, `${upstream.name}.jsonl`);
        const { command, args } = stdioServer(upstream.era);
        entries[upstream.name] = { command: process.execPath, args: [TEE, file, command, ...args] };
        frames.set(upstream.name, () => recordedIn(file));
      } else {
        const { url } = await (upstream.era === 'legacy' ? httpServer() : modernHttpServer('--era', upstream.era));
        const proxy = await recordingProxy(url);
        entries[upstream.name] = { url: proxy.url };
        frames.set(upstream.name, () => proxy.frames);
      }
    }
    const file = join(workspace.folder, `${GUARDED}.jsonl`);
    const { command, args } = stdioServer('legacy');
    entries[GUARDED] = { command: process.execPath, args: [TEE, file, command, ...args] };
    frames.set(GUARDED, () => recordedIn(file));
    const policy = { rules: [{ action: 'require_approval', server: GUARDED }] };
    workspace.write('.vscode/waygate.json', JSON.stringify({ policy, servers: entries }));
    workspace.approve();
    const host = await HostProcess.connect(workspace);
    for (const name of Object.keys(entries)) await host.toolId(`/${name}`);
    return new EraWorld(workspace, frames, await HttpProcess.waygate(workspace, ['--no-token']).url());
  }

  /** Opens a recorded connection for one client. */
  async line(transport: WireTransport): Promise<ClientLine> {
    if (transport === 'HTTP') {
      const { url, frames } = await recordingProxy(this.#gateway);
      return { address: { url }, frames: () => frames };
    }
    this.#lines += 1;
    const file = join(this.workspace.folder, `client-${this.#lines}.jsonl`);
    const args = [TEE, file, process.execPath, WAYGATE, 'serve', '--workspace', this.workspace.folder];
    const env = ownVariables(this.workspace);
    return { address: { command: process.execPath, args, env }, frames: () => recordedIn(file) };
  }

  /** Reports whether a call with this text has reached a server. */
  hasReached(upstream: string, text: string): boolean {
    return spokenFor(text, this.#upstreamFrames.get(upstream)?.() ?? []) !== undefined;
  }

  /** Returns how the gateway spoke with a server when it passed on the call with this text. */
  spokenWith(upstream: string, text: string): Promise<Spoken> {
    // The file of a process may be behind its answer.
    const look = () => spokenFor(text, this.#upstreamFrames.get(upstream)?.() ?? []);
    return until(`the call ${text} at ${upstream}`, look, 5_000);
  }
}

const TEE = resolve('test/fixtures/tee.mjs');
/** Variables that a gateway started by a client needs, because clients pass on few. */
const OWN = /^(WAYGATE_|HOME$|PATH$)/;

function ownVariables({ env }: TestWorkspace): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => OWN.test(entry[0])));
}

/** Returns the address of a gateway, which the client starts or which listens until the end of the test. */
export async function addressOf(
  workspace: TestWorkspace,
  transport: WireTransport,
  flags: readonly string[] = [],
): Promise<Address> {
  if (transport === 'HTTP') return { url: await HttpProcess.waygate(workspace, ['--no-token', ...flags]).url() };
  const args = [WAYGATE, 'serve', '--workspace', workspace.folder, ...flags];
  return { command: process.execPath, args, env: ownVariables(workspace) };
}

function stdioServer(era: Upstream['era']): { command: string; args: string[] } {
  if (era !== 'legacy') return servers.modern('--era', era);
  return { command: process.execPath, args: [bundled('httpServer.mjs'), '--kind', 'stdio'] };
}
