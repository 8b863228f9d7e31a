import type { ControlClient } from '../../control/client.ts';
import type { GatewayTarget } from '../../host/attach/startWorker.ts';
import { quoted } from '../../text/porcelain.ts';
import type { LoginCommand } from '../commands.ts';
import { inTime } from '../inTime.ts';
import { jsonText, printNext, printText } from '../print.ts';
import { withSettledGateway } from '../settledGateway.ts';

/** Prints the address to open and waits until the gateway has signed in and connected. */
export async function login({ server, json, ...target }: LoginCommand): Promise<number> {
  return withGateway(target, async (control) => {
    const name = server ?? (await theOneThatAsks(control));
    const answer = await control.request('signIn', { server: name });
    if ('reason' in answer) throw new Error(answer.reason);
    const hint = `Open this address in your browser to sign in to "${name}":\n\n  ${answer.url}\n\n${tunnelHint(answer.url)}`;
    printLine(json, { server: name, url: answer.url }, hint);
    const { reason } = await control.request('signInEnd', { server: name });
    if (reason !== undefined) throw new Error(reason);
    printLine(json, { server: name, signedIn: true }, `Signed in to "${name}".\n`);
    printNext(json, 'waygate browse / shows its tools.');
    return 0;
  });
}

export async function logout({ server: given, json, ...target }: LoginCommand): Promise<number> {
  // The command line parser guarantees a name.
  const server = given as string;
  return withGateway(target, async (control) => {
    const answer = await control.request('signOut', { server });
    if ('reason' in answer) throw new Error(answer.reason);
    const { wasSignedIn } = answer;
    const text = wasSignedIn ? `Signed out of "${server}".\n` : `Nobody was signed in to "${server}".\n`;
    printLine(json, { server, wasSignedIn }, text);
    return 0;
  });
}

/** Prints data as one line each, because the address is needed before the end. */
function printLine(json: boolean, data: object, text: string): void {
  printText(json ? jsonText(data, 0) : text);
}

/** Runs with a gateway that has contacted the server: the server states its requirements only then. */
async function withGateway(target: GatewayTarget, run: (control: ControlClient) => Promise<number>): Promise<number> {
  return withSettledGateway(target, async (control) => {
    const lost = new Promise<never>((_, reject) => {
      control.onClose(() =>
        reject(new Error('the gateway stopped before the sign-in or sign-out was complete; try again.')),
      );
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
      : `several servers ask for a sign-in; name one: ${asking.map((name) => quoted(name)).join(', ')}.`,
  );
}

/** The browser redirects to this machine; from a remote machine that needs a tunnel. */
function tunnelHint(url: string): string {
  const redirect = new URL(url).searchParams.get('redirect_uri');
  if (!process.env.SSH_CONNECTION || redirect === null) return '';
  const { port } = new URL(redirect);
  return `The browser must reach port ${port} of this machine. From yours: ssh -L ${port}:127.0.0.1:${port} HOST\n\n`;
}
