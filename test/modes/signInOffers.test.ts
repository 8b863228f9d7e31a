import { describe, expect, it } from 'vitest';
import { deferred } from '../../src/lib/deferred.ts';
import type { ClientPeer } from '../../src/mcp/session/sessionMode.ts';
import { SignInOffers, type SignInPorts } from '../../src/modes/shared/client/signInOffers.ts';
import { SessionCall } from '../../src/modes/shared/sessionCall.ts';
import { until } from '../support/hostProcess.ts';

const URL_MODE = { elicitation: { url: {} } };
const CHECKED = 'https://issuer.test/authorize?state=x';

interface Asked {
  method: string;
  params: Record<string, unknown>;
  signal: AbortSignal;
  answer(answer: Record<string, unknown>): void;
}

/** Client that waits with its answers. */
function client(capabilities: object = URL_MODE) {
  const asked: Asked[] = [];
  const notices: [string, unknown][] = [];
  const peer: ClientPeer = {
    session: {},
    client: { name: 'test', version: '1', protocolVersion: '2025-11-25' },
    capabilities: capabilities as ClientPeer['capabilities'],
    notify: (method, params) => void notices.push([method, params]),
    request: (method, params, { signal = new AbortController().signal }) => {
      const { promise, resolve, reject } = deferred<Record<string, unknown>>();
      asked.push({ method, params, signal, answer: resolve });
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      return promise;
    },
  };
  return { asked, notices, call: new SessionCall(peer) };
}

function offers(begin: SignInPorts['begin'] = async () => ({ url: CHECKED }), hasEditor = () => false) {
  const end = deferred<{ reason?: string }>();
  const log: string[] = [];
  const ports = { begin, ended: () => end.promise, hasEditor, log: (line: string) => void log.push(line) };
  return { offers: new SignInOffers(ports), end: end.resolve, log };
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

describe('the offer of a sign-in', () => {
  it('is left to an editor that watches', async () => {
    const { offers: signIns } = offers(undefined, () => true);
    const { asked, call } = client();
    expect(await signIns.offer('one', call)).toBe(false);
    expect(asked).toEqual([]);
  });

  it('is a URL and the name of the server, and the call waits for the end of the sign-in', async () => {
    const { offers: signIns, end } = offers();
    const { asked, notices, call } = client();
    let extended = 0;
    call.stillWorking = () => void extended++;
    const offered = signIns.offer('a](x) "b"', call);
    await turn();
    const [question] = asked as [Asked];
    expect([question.method, question.params]).toEqual([
      'elicitation/create',
      {
        mode: 'url',
        message: String.raw`Waygate asks: sign in to the server "a\](x) \\"b\\"", which the call needs. The page is at issuer.test.`,
        url: CHECKED,
        elicitationId: expect.any(String),
      },
    ]);
    question.answer({ action: 'accept' });
    await until('the longer deadline', () => extended > 0);
    expect(notices).toEqual([]);
    end({});
    expect(await offered).toBe(true);
    const { elicitationId } = question.params;
    expect(notices).toEqual([['notifications/elicitation/complete', { elicitationId }]]);
  });

  it.each([{}, { elicitation: {} }, { elicitation: { form: {} } }])(
    'is not made to a client that declares %j',
    async (capabilities) => {
      const { offers: signIns, log } = offers(() => Promise.reject(new Error('it must not begin')));
      const { asked, call } = client(capabilities);
      expect(await signIns.offer('one', call)).toBe(false);
      expect(await signIns.offer('one', new SessionCall(undefined))).toBe(false);
      expect(await signIns.offer('one', {})).toBe(false);
      expect([asked, log]).toEqual([[], []]);
    },
  );

  it('ends when the user declines it, or with a cancelled call', async () => {
    const { offers: signIns, log } = offers();
    const { asked, call } = client();
    const declined = signIns.offer('one', call);
    await turn();
    asked[0]?.answer({ action: 'decline' });
    expect(await declined).toBe(false);
    const cancel = new AbortController();
    const other = client();
    const cancelled = signIns.offer('one', other.call, cancel.signal);
    await turn();
    cancel.abort();
    expect(await cancelled).toBe(false);
    expect(other.asked[0]?.signal.aborted).toBe(true);
    expect(log).toEqual([]);
  });

  it('is withdrawn when the user signs in elsewhere meanwhile, and the call goes on', async () => {
    const { offers: signIns, end } = offers();
    const { asked, call } = client();
    const offered = signIns.offer('one', call);
    await turn();
    end({});
    expect(await offered).toBe(true);
    expect(asked[0]?.signal.aborted).toBe(true);
  });

  it('fails with the sign-in, or when none can begin, and the log has the reason', async () => {
    const failing = offers();
    const { asked, call } = client();
    const offered = failing.offers.offer('one', call);
    await turn();
    asked[0]?.answer({ action: 'accept' });
    failing.end({ reason: 'The sign-in was refused (access_denied).' });
    expect(await offered).toBe(false);
    expect(failing.log).toEqual(['one: the offered sign-in failed: The sign-in was refused (access_denied).']);
    const { offers: none, log } = offers(async () => ({ reason: 'Its page is a private address.' }));
    const second = client();
    expect(await none.offer('one', second.call)).toBe(false);
    expect(second.asked).toEqual([]);
    expect(log).toEqual(['one: the offered sign-in failed: Its page is a private address.']);
  });

  it('is made at most twenty times an hour for a server, as its own questions', async () => {
    const { offers: signIns } = offers();
    let asked = 0;
    for (let i = 0; i < 25; i++) {
      const one = client();
      const offered = signIns.offer('one', one.call);
      await turn();
      asked += one.asked.length;
      one.asked[0]?.answer({ action: 'cancel' });
      expect(await offered).toBe(false);
    }
    expect(asked).toBe(20);
  });
});
