import { describe, expect, it } from 'vitest';
import { shared } from '../support/lifetime.ts';
import { EraWorld, TRANSPORTS, UPSTREAMS } from '../support/wire/eraWorld.ts';
import { spokenFor } from '../support/wire/recorded.ts';
import { browseAndCall, SDK_CLIENTS } from '../support/wire/sdkClients.ts';

/** Both eras on both sides of the gateway, with the clients of the SDK; `npm run test:clients` runs the others. */

const world = shared(() => EraWorld.open());

const CASES = SDK_CLIENTS.flatMap((client) => TRANSPORTS.map((transport) => ({ ...client, transport })));

describe.each(CASES)('$name over $transport', ({ name, revision, transport, connect }) => {
  it(`speaks ${revision} and reaches a server of each era on each transport`, async () => {
    const line = await world().line(transport);
    const { callTool, close } = await connect(line.address);
    for (const upstream of UPSTREAMS) {
      const text = `${name} ${transport} ${upstream.name}`;
      expect(await browseAndCall(callTool, upstream.name, text)).toContain(text);
      expect(spokenFor(text, line.frames())?.revision).toBe(revision);
      const { revision: behind } = await world().spokenWith(upstream.name, text);
      expect(behind).toBe(behindOf(upstream));
    }
    await close();
  });
});

/** Over stdio, `initialize` comes first, so that a server of both eras stays with it (docs/reference/servers.md). */
function behindOf({ era, transport }: (typeof UPSTREAMS)[number]): string {
  return era === 'modern' || (era === 'dual' && transport === 'HTTP') ? '2026-07-28' : '2025-11-25';
}
