import { describe, expect, it } from 'vitest';
import { shared } from '../support/lifetime.ts';
import { RoundGateway } from '../support/roundGateway.ts';
import { addressOf, TRANSPORTS } from '../support/wire/eraWorld.ts';
import { type Person, SDK_CLIENTS } from '../support/wire/sdkClients.ts';

/**
 * Real clients of both eras answer what the gateway and a server ask during a call: as requests of a session, or by
 * `input_required` and another request. `npm run test:clients` has the agents.
 */

const CASES = SDK_CLIENTS.flatMap((client) => TRANSPORTS.map((transport) => ({ ...client, transport })));

const gateway = shared(async () => new RoundGateway());

describe.each(CASES)('$name over $transport', ({ name, connect, transport }) => {
  it('answers an approval of the gateway and the question of a server, and both calls run once', async () => {
    const questions: Record<string, unknown>[] = [];
    const person: Person = {
      elicitation: { form: {} },
      answer: (question) => {
        questions.push(question);
        const { properties } = question.requestedSchema as { properties: object };
        const content = 'remember' in properties ? { remember: 'once' } : { username: 'ada', email: 'ada@example.org' };
        return { action: 'accept', content };
      },
    };
    const { callTool, close } = await connect(await addressOf(gateway().workspace, transport), person);
    const idAt = async (path: string): Promise<string> => {
      const listing = await callTool('tool_browse', { path });
      return new RegExp(`${path.slice(1).replace('/', ':')}#[0-9a-f]{8}`).exec(listing)?.[0] ?? listing;
    };
    const nonce = `${name} ${transport}`;
    expect(await callTool('tool_execute', { tool_id: await idAt('/faulty/act'), args: { nonce } })).toContain(nonce);
    expect(gateway().effectsOf(nonce)).toBe(1);
    const asking = { tool_id: await idAt('/asking/test_elicitation'), args: { message: `Who calls over ${nonce}?` } };
    expect(await callTool('tool_execute', asking)).toMatch(/ada@example\.org/);
    expect(questions.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Allow Waygate to run faulty:act#/),
      `Server "asking" asks: Who calls over ${nonce}?`,
    ]);
    await close();
  });
});
