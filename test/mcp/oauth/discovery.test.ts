import { describe, expect, it } from 'vitest';
import { discoverResource } from '../../../src/mcp/oauth/discovery.ts';
import { SignInError } from '../../../src/mcp/oauth/signInError.ts';

const SERVER = 'https://mcp.example.com/tools';
const BESIDE = 'https://mcp.example.com/.well-known/oauth-protected-resource/tools';
const AT_ROOT = 'https://mcp.example.com/.well-known/oauth-protected-resource';
const METADATA = { resource: SERVER, authorization_servers: ['https://login.example.com'] };

/** Answers by address with a status or with metadata; 404 for any other address. */
function discovery(answers: Record<string, number | object>, metadataUrl?: string) {
  const asked: string[] = [];
  const found = discoverResource(SERVER, metadataUrl ? new URL(metadataUrl) : undefined, undefined, async (address) => {
    asked.push(String(address));
    const answer = answers[String(address)] ?? 404;
    return typeof answer === 'number' ? new Response('invalid JSON', { status: answer }) : Response.json(answer);
  });
  return { found, asked };
}

describe('the metadata of a protected resource', () => {
  it('is read beside the server, or at the root of its origin', async () => {
    const expected = { resource: SERVER, issuer: 'https://login.example.com', legacy: false };
    expect(await discovery({ [BESIDE]: METADATA }).found).toMatchObject(expected);
    const { found, asked } = discovery({ [AT_ROOT]: METADATA });
    expect(await found).toMatchObject(expected);
    expect(asked).toEqual([BESIDE, AT_ROOT]);
  });

  it.each([401, 403, 404, 405])(
    'is absent if both addresses answer %i: the server is its own issuer',
    async (status) => {
      expect(await discovery({ [BESIDE]: status, [AT_ROOT]: status }).found).toEqual({
        resource: SERVER,
        scopes: undefined,
        issuer: 'https://mcp.example.com',
        legacy: true,
      });
    },
  );

  it.each([
    ['a server error', { [BESIDE]: 500 }, undefined],
    ['a server error at the root', { [BESIDE]: 404, [AT_ROOT]: 503 }, undefined],
    ['invalid JSON', { [BESIDE]: 200 }, undefined],
    ['JSON of another form', { [BESIDE]: { resource: 7 } }, undefined],
    ['no metadata at the address that the server named', { [AT_ROOT]: METADATA }, 'https://mcp.example.com/named'],
  ])('is rejected as unusable: %s', async (_what, answers, named) => {
    const { found } = discovery(answers, named);
    await expect(found).rejects.toThrow(SignInError);
    await expect(found).rejects.toThrow('The sign-in metadata of https://mcp.example.com is not usable.');
  });
});
