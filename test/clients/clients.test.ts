import { afterAll, describe, expect, it } from 'vitest';
import { once } from '../../src/lib/once.ts';
import { shared } from '../support/lifetime.ts';
import { EraWorld, GUARDED, TRANSPORTS, UPSTREAMS, type WireTransport } from '../support/wire/eraWorld.ts';
import { spokenFor } from '../support/wire/recorded.ts';
import { agents } from './agents.ts';
import type { ClientProgram, Read } from './clientProgram.ts';
import { type Approval, type Row, writeTable } from './compatibility.ts';
import { libraries } from './libraries.ts';

/** `npm run test:clients`: real clients × transports × servers of each era, and docs/compatibility.md. */

const PROGRAMS = [...libraries(), ...agents()];

const world = shared(() => EraWorld.open());
const rows: Row[] = [];
afterAll(() => writeTable(rows));

describe.each(PROGRAMS)('$name ($version)', (program) => {
  describe.each(TRANSPORTS)('over %s', (transport) => {
    const row: Row = { name: program.name, version: program.version, transport, wasRun: false, cells: new Map() };
    rows.push(row);
    // All cells of a row belong to one run of the client.
    const done = once(() => {
      row.wasRun = true;
      return conversation(program, transport);
    });

    it.each(UPSTREAMS)('calls a tool of $name', async ({ name }) => {
      const { read, frames, textFor } = await done();
      const text = textFor(name);
      expect(read.get(name)).toContain(text);
      const front = spokenFor(text, frames());
      if (!front) throw new Error(`No call of ${name} was recorded between the client and the gateway.`);
      row.front = front;
      row.cells.set(name, (await world().spokenWith(name, text)).revision);
    });

    it('has a call approved by its user, or reads how the user can allow it', async () => {
      const { read, textFor } = await done();
      const text = textFor(GUARDED);
      row.approval = approvalIn(read.get(GUARDED) ?? '', text, world().hasReached(GUARDED, text));
    });
  });
});

/** Returns how the gateway's question whether a tool may run ended at a client. */
function approvalIn(answer: string, text: string, hasRun: boolean): Approval {
  if (hasRun && answer.includes(text)) return 'asks';
  if (!hasRun && /AUTH_REQUIRED[\s\S]*waygate allow guarded:echo#/.test(answer)) return 'reads the command';
  if (!hasRun && /POLICY_DENIED: The user declined/.test(answer)) return 'declines';
  throw new Error(`${hasRun ? 'It ran' : 'It did not run'}, and the client read: ${answer.slice(0, 1_000)}`);
}

interface Conversation {
  read: Read;
  frames: Awaited<ReturnType<EraWorld['line']>>['frames'];
  textFor(server: string): string;
}

/** Lets a client call a tool of every server, with a text that no other call has. */
async function conversation(program: ClientProgram, transport: WireTransport): Promise<Conversation> {
  const textFor = (server: string): string => `${program.name} over ${transport} to ${server}`;
  const { address, frames } = await world().line(transport);
  const names = [...UPSTREAMS.map(({ name }) => name), GUARDED];
  const calls = names.map((server) => ({ server, text: textFor(server) }));
  return { read: await program.run(address, calls, world().workspace.folder), frames, textFor };
}
