import { describe, expect, it } from 'vitest';
import { listenForRedirect } from '../../../src/mcp/oauth/loopbackRedirect.ts';

const MINUTE = 60_000;

describe('the wait for the browser', () => {
  it('ends with the answer of its own state, and closes the port', async () => {
    const redirect = await listenForRedirect('mine', MINUTE);
    expect((await fetch(redirect.uri.replace('/callback', '/'))).status).toBe(404);
    expect((await fetch(`${redirect.uri}?code=c&state=mine`, { method: 'POST' })).status).toBe(404);
    const page = await fetch(`${redirect.uri}?code=c&state=mine&iss=https://login.example`);
    expect(page.headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(await redirect.answer).toEqual({ code: 'c', iss: 'https://login.example' });
    await expect(fetch(redirect.uri)).rejects.toThrow();
  });

  it('ends after its time limit', async () => {
    const redirect = await listenForRedirect('mine', 50);
    await expect(redirect.answer).rejects.toThrow(/^The sign-in was not completed within/);
    await expect(fetch(redirect.uri)).rejects.toThrow();
  });

  it('outlives any number of answers with another state', async () => {
    const redirect = await listenForRedirect('mine', MINUTE);
    const wrong = (i: number): string => [`code=c&state=${i}`, 'code=c', 'error=access_denied&state='][i % 3] ?? '';
    for (let i = 0; i < 60; i++) expect((await fetch(`${redirect.uri}?${wrong(i)}`)).status).toBe(400);
    expect((await fetch(`${redirect.uri}?code=right&state=mine`)).status).toBe(200);
    expect(await redirect.answer).toEqual({ code: 'right', iss: undefined });
  });

  it('ends on request', async () => {
    const redirect = await listenForRedirect('mine', MINUTE);
    redirect.close();
    await expect(redirect.answer).rejects.toThrow('The sign-in was cancelled.');
  });
});
