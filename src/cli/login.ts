import type { ControlClient } from '../control/client.ts';
import type { GatewayTarget } from '../host/startWorker.ts';
import { inTime } from './inTime.ts';
import { withSettledGateway } from './settledGateway.ts';

interface LoginCommand extends GatewayTarget {
  server: string | undefined;
}

/** Prints the address to open and waits for the person; the gateway does the rest, and connects. */
export async function login({ server, ...target }: LoginCommand): Promise<number> {
  return withGateway(target, async (control) => {
    const name = server ?? (await theOneThatAsks(control));
    const answer = await control.request('signIn', { server: name });
    if ('reason' in answer) throw new Error(answer.reason);
    process.stdout.write(`Open this address in your browser to sign in to "${name}":\n\n  ${answer.url}\n\n`);
    process.stdout.write(tunnelHint(answer.url));
    const { reason } = await control.request('signInEnd', { server: name });
    if (reason !== undefined) throw new Error(reason);
    process.stdout.write(`Signed in to "${name}".\n`);
    return 0;
  });
}

export async function logout({ server, ...target }: LoginCommand): Promise<number> {
  if (server === undefined) throw new Error('waygate logout needs the name of a server; see waygate status.');
  return withGateway(target, async (control) => {
    const answer = await control.request('signOut', { server });
    if ('reason' in answer) throw new Error(answer.reason);
    process.stdout.write(
      answer.wasSignedIn ? `Signed out of "${server}".\n` : `Nobody was signed in to "${server}".\n`,
    );
    return 0;
  });
}

/** What a server asks for is known when it has been asked. */
async function withGateway(target: GatewayTarget, run: (control: ControlClient) => Promise<number>): Promise<number> {
  return withSettledGateway(target, async (control) => {
    const lost = new Promise<never>((_, reject) => {
      control.onClose(() => reject(new Error('the gateway went away; nothing was signed in or out.')));
    });
    return Promise.race([run(control), lost]);
  });
}

async function theOneThatAsks(control: ControlClient): Promise<string> {
  const { servers } = await inTime(control.request('status', {}), 'the gateway');
  const asking = servers.filter(({ state }) => state === 'needs_sign_in').map(({ name }) => name);
  if (asking.length === 1) return asking[0] as string;
  throw new Error(
    asking.length === 0
      ? 'no server asks for a sign-in; see waygate status.'
      : `several servers ask for a sign-in, name one: ${asking.map((name) => JSON.stringify(name)).join(', ')}.`,
  );
}

/** The browser comes back to this machine; on a far one that takes a tunnel. */
function tunnelHint(url: string): string {
  const redirect = new URL(url).searchParams.get('redirect_uri');
  if (!process.env.SSH_CONNECTION || redirect === null) return '';
  const { port } = new URL(redirect);
  return `The browser must reach port ${port} of this machine. From yours: ssh -L ${port}:127.0.0.1:${port} HOST\n\n`;
}
