import { describe, expect, it } from 'vitest';
import { isProblem, readEnvelope } from '../../../src/mcp/modern/envelope.ts';
import { claimsModern, isModernVersion } from '../../../src/mcp/modern/wire.ts';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test-client', version: '1.2.3' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};
const request = (meta?: unknown) =>
  ({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: meta === undefined ? {} : { _meta: meta } }) as const;

describe('the envelope of a modern request', () => {
  it('has the client, its capabilities and the members that the revision does not reserve', () => {
    const given = {
      ...META,
      'io.modelcontextprotocol/logLevel': 'notice',
      progressToken: 'mine',
      'vscode.conversationId': 'chat',
    };
    expect(readEnvelope(request(given))).toEqual({
      client: { name: 'test-client', version: '1.2.3' },
      capabilities: { elicitation: {} },
      logLevel: 'notice',
      progressToken: 'mine',
      rest: { 'vscode.conversationId': 'chat' },
    });
  });

  it('may lack the client', () => {
    const { 'io.modelcontextprotocol/clientInfo': _, ...meta } = META;
    expect(readEnvelope(request(meta))).toMatchObject({ client: { name: 'unknown client', version: '' } });
  });

  it.each([
    ['no _meta', undefined, 'protocolVersion'],
    ['a _meta that is no object', 'x', 'protocolVersion'],
    ['no version', { ...META, 'io.modelcontextprotocol/protocolVersion': undefined }, 'protocolVersion'],
    ['a version that is no string', { ...META, 'io.modelcontextprotocol/protocolVersion': 7 }, 'protocolVersion'],
    ['no capabilities', { ...META, 'io.modelcontextprotocol/clientCapabilities': undefined }, 'clientCapabilities'],
    ['a list of capabilities', { ...META, 'io.modelcontextprotocol/clientCapabilities': [] }, 'clientCapabilities'],
    ['a client without a name', { ...META, 'io.modelcontextprotocol/clientInfo': { version: '1' } }, 'clientInfo'],
    ['an unknown log level', { ...META, 'io.modelcontextprotocol/logLevel': 'loud' }, 'logLevel'],
    ['a progress token that is no token', { ...META, progressToken: {} }, 'progressToken'],
  ])('is refused with %s, and the error names the member', (_, meta, named) => {
    const problem = readEnvelope(request(meta));
    expect(problem).toMatchObject({ code: -32602, message: expect.stringMatching(/^Invalid params: [^\n]+\.$/) });
    expect(isProblem(problem) && problem.message).toContain(named);
  });

  it('is refused with an unknown revision, and the error names those that work', () => {
    expect(readEnvelope(request({ ...META, 'io.modelcontextprotocol/protocolVersion': '1900-01-01' }))).toEqual({
      code: -32022,
      message: 'Unsupported protocol version; use 2026-07-28.',
      data: { supported: ['2026-07-28'], requested: '1900-01-01' },
    });
  });
});

it('distinguishes the eras by the reserved key and by the date of a revision', () => {
  expect(claimsModern(request(META))).toBe(true);
  expect(claimsModern(request({ progressToken: 1 }))).toBe(false);
  expect(claimsModern(request())).toBe(false);
  expect(['2025-11-25', '2026-07-28', '2027-01-01', 'tomorrow', undefined].map(isModernVersion)).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
});
