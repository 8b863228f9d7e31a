import { describe, expect, it } from 'vitest';
import { TrustedUrls } from '../../../src/mcp/oauth/trustedUrl.ts';

const PUBLIC = 'https://mcp.example.com/mcp';
const LOCAL = 'http://127.0.0.1:8000/mcp';
const INNER = 'https://10.1.2.3/mcp';

describe('an address that a server names for the sign-in', () => {
  it.each([
    [PUBLIC, 'https://login.example.com/authorize'],
    [PUBLIC, 'https://8.8.8.8/'],
    [LOCAL, 'http://127.0.0.1:9000/'],
    [LOCAL, 'http://localhost:9000/'],
    [LOCAL, 'http://[::1]:9000/'],
    [LOCAL, 'https://192.168.1.1/'],
    [INNER, 'https://192.168.1.1/'],
    [INNER, 'https://login.example.com/'],
  ])('of %s may be %s', (server, address) => {
    expect(new TrustedUrls(server).check(address, 'It').href).toBe(address);
  });

  it.each([
    [PUBLIC, 'http://login.example.com/', /must begin with https/],
    [PUBLIC, 'file:///etc/passwd', /must begin with https/],
    [PUBLIC, 'data:text/html,x', /must begin with https/],
    [PUBLIC, 'ms-settings:', /must begin with https/],
    [PUBLIC, 'no address', /is not a valid address/],
    [PUBLIC, 'https://a:b@login.example.com/', /contains a password/],
    [PUBLIC, 'http://127.0.0.1:9000/', /loopback address/],
    [PUBLIC, 'https://localhost/', /loopback address/],
    [PUBLIC, 'https://localhost./', /loopback address/],
    [PUBLIC, 'https://a.localhost/', /loopback address/],
    [PUBLIC, 'https://[::1]/', /loopback address/],
    [PUBLIC, 'https://[::ffff:127.0.0.1]/', /loopback address/],
    [PUBLIC, 'https://0.0.0.0/', /loopback address/],
    [PUBLIC, 'https://2130706433/', /loopback address/],
    [PUBLIC, 'https://169.254.169.254/latest', /link-local address/],
    [PUBLIC, 'https://[fe80::1]/', /link-local address/],
    [PUBLIC, 'https://10.0.0.1/', /private address/],
    [PUBLIC, 'https://172.31.0.1/', /private address/],
    [PUBLIC, 'https://[fd00::1]/', /private address/],
    [INNER, 'http://127.0.0.1/', /loopback address/],
    [LOCAL, 'https://169.254.169.254/', /link-local address/],
  ])('of %s may not be %s', (server, address, sentence) => {
    expect(() => new TrustedUrls(server).check(address, 'It')).toThrow(sentence);
  });

  it('may be on a host that the user configures', () => {
    const urls = new TrustedUrls(PUBLIC, 'https://10.0.0.7/realm');
    expect(urls.check('https://10.0.0.7/authorize', 'It').hostname).toBe('10.0.0.7');
    expect(() => urls.check('https://10.0.0.8/authorize', 'It')).toThrow(/private address/);
    expect(() => urls.check('http://10.0.0.7/authorize', 'It')).toThrow(/must begin with https/);
  });

  it('is judged by the address to which its name resolves', async () => {
    const led = (address: string) => new TrustedUrls(PUBLIC, undefined, async () => ['8.8.8.8', address]);
    const name = new URL('https://login.example.com/');
    await expect(led('127.0.0.1').checkResolved(name)).rejects.toThrow(/loopback address, which mcp\.example\.com/);
    await expect(led('192.168.0.1').checkResolved(name)).rejects.toThrow(/private address/);
    await expect(led('9.9.9.9').checkResolved(name)).resolves.toBeUndefined();
    await expect(new TrustedUrls(LOCAL).checkResolved(new URL('https://nowhere.invalid/'))).resolves.toBeUndefined();
  });
});
