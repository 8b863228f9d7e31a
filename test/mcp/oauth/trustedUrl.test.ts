import { createServer } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { oauthFetch } from '../../../src/mcp/oauth/oauthFetch.ts';
import { TrustedUrls } from '../../../src/mcp/oauth/trustedUrl.ts';

const PUBLIC = 'https://mcp.example.com/mcp';
const LOCAL = 'http://127.0.0.1:8000/mcp';
const INNER = 'https://10.1.2.3/mcp';

describe('an address that a server names for the sign-in', () => {
  it.each([
    [PUBLIC, 'https://login.example.com/authorize'],
    [PUBLIC, 'https://8.8.8.8/'],
    [PUBLIC, 'https://[2606:4700::1111]/'],
    [PUBLIC, 'https://[64:ff9b::808:808]/'],
    [PUBLIC, 'https://[::ffff:808:808]/'],
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
    [PUBLIC, 'https://100.64.0.1/', /private address/],
    [PUBLIC, 'https://0.1.2.3/', /loopback address/],
    [PUBLIC, 'https://[::]/', /loopback address/],
    [PUBLIC, 'https://[::ffff:10.0.0.1]/', /private address/],
    [PUBLIC, 'https://[0:0:0:0:0:ffff:a9fe:a9fe]/', /link-local address/],
    [PUBLIC, 'https://[64:ff9b::127.0.0.1]/', /loopback address/],
    [PUBLIC, 'https://[64:ff9b::a9fe:a9fe]/', /link-local address/],
    [PUBLIC, 'https://[64:ff9b::]/', /reserved address/],
    [PUBLIC, 'https://[64:ff9b:1::808:808]/', /reserved address/],
    [PUBLIC, 'https://[::127.0.0.1]/', /reserved address/],
    [PUBLIC, 'https://[::ffff:0:127.0.0.1]/', /reserved address/],
    [PUBLIC, 'https://[2002:7f00:1::]/', /reserved address/],
    [PUBLIC, 'https://[2001:0:7f00:1::1]/', /reserved address/],
    [PUBLIC, 'https://[2001:db8::1]/', /reserved address/],
    [PUBLIC, 'https://[ff02::1]/', /reserved address/],
    [PUBLIC, 'https://[fec0::1]/', /reserved address/],
    [PUBLIC, 'https://[4000::1]/', /reserved address/],
    [PUBLIC, 'https://198.19.255.254/', /reserved address/],
    [PUBLIC, 'https://192.0.0.170/', /reserved address/],
    [PUBLIC, 'https://224.0.0.1/', /reserved address/],
    [PUBLIC, 'https://240.0.0.1/', /reserved address/],
    [PUBLIC, 'https://255.255.255.255/', /reserved address/],
    [LOCAL, 'https://198.18.0.1/', /reserved address/],
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

  it.each([
    [PUBLIC, '127.0.0.1', /^https:\/\/login\.example\.com is a loopback address, which mcp\.example\.com/],
    [PUBLIC, '192.168.0.1', /private address/],
    [PUBLIC, '64:ff9b::7f00:1', /loopback address/],
    [PUBLIC, 'fe80::1%lo', /link-local address/],
    [LOCAL, '169.254.169.254', /link-local address/],
  ])('of %s is not connected to if one of its addresses is %s', async (server, address, sentence) => {
    const found = ['8.8.8.8', address].map((one) => ({ address: one, family: isIP(one) }));
    const fetchFn = oauthFetch(new TrustedUrls(server, undefined, async () => found));
    await expect(fetchFn('https://login.example.com/')).rejects.toThrow(sentence);
  });

  it('is connected to at the address that was checked, which a name may exchange for another one', async () => {
    const http = createServer(({ headers, url }, response) => {
      response.writeHead(url === '/odd' ? 999 : 307, { location: '/next', 'x-host': String(headers.host) }).end('page');
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void http.close());
    const host = `login.localhost:${(http.address() as AddressInfo).port}`;
    const answers = ['127.0.0.1', '127.0.0.1', '169.254.169.254', '127.0.0.1'];
    const urls = new TrustedUrls(LOCAL, undefined, async () => [{ address: answers.shift() ?? 'none', family: 4 }]);
    const fetchFn = oauthFetch(urls);
    await expect(fetchFn(`http://${host}/odd`)).rejects.toThrow(/could not be reached for the sign-in/);
    const page = await fetchFn(`http://${host}/`, { method: 'POST', body: new URLSearchParams({ a: 'b' }) });
    expect([page.status, page.headers.get('location'), await page.text()]).toEqual([307, '/next', 'page']);
    expect(page.headers.get('x-host')).toBe(host);
    expect(answers).toEqual(['169.254.169.254', '127.0.0.1']);
    // A kept connection would answer without asking the resolver.
    await expect(fetchFn(`http://${host}/`)).rejects.toThrow(/link-local address/);
    expect(answers).toEqual(['127.0.0.1']);
  });

  it('is reported as unknown by the resolver itself', async () => {
    const unknown = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    const fetchFn = oauthFetch(new TrustedUrls(PUBLIC, undefined, () => Promise.reject(unknown)));
    await expect(fetchFn('https://login.example.com/')).rejects.toThrow(
      'https://login.example.com could not be reached for the sign-in (ENOTFOUND).',
    );
  });
});
