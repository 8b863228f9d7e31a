import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Address } from '../support/wire/eraWorld.ts';
import { browseAndCall, type Person, SDK_CLIENTS } from '../support/wire/sdkClients.ts';
import { temporaryFolder } from '../support/workspace.ts';
import type { ClientProgram, Read, WantedCall } from './clientProgram.ts';

/** Version of a package of the work tree. */
function versionOf(name: string): string {
  return JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8')).version;
}

/** Clients without a model: both versions of the SDK and the Inspector, in each of their modes. */
export function libraries(): ClientProgram[] {
  return [...SDK_CLIENTS.map(sdk), ...['legacy', 'auto', 'modern'].map(inspector)];
}

/** Allows each call about which the gateway asks. */
const PERSON: Person = {
  elicitation: { form: {} },
  answer: () => ({ action: 'accept', content: { remember: 'once' } }),
};

function sdk({ name, package: from, connect }: (typeof SDK_CLIENTS)[number]): ClientProgram {
  return {
    name,
    version: versionOf(from),
    async run(address, calls) {
      const { callTool, close } = await connect(address, PERSON);
      try {
        return await readEach(calls, callTool);
      } finally {
        await close();
      }
    },
  };
}

const INSPECTOR = '@modelcontextprotocol/inspector';

function inspector(era: string): ClientProgram {
  return {
    name: `Inspector CLI, ${era}`,
    version: versionOf(INSPECTOR),
    async run(address, calls) {
      const home = temporaryFolder('waygate-inspector-');
      return readEach(calls, async (tool, args) => {
        const pairs = Object.entries(args).map(
          ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
        );
        const call = ['--method', 'tools/call', '--tool-name', tool, '--tool-arg', ...pairs, '--protocol-era', era];
        return inspect(address, call, home);
      });
    },
  };
}

/** Runs one command of the Inspector, which connects anew for each. */
function inspect(address: Address, call: readonly string[], home: string): Promise<string> {
  const program = resolve('node_modules', INSPECTOR, 'clients/cli/build/index.js');
  const [target, options] =
    'url' in address
      ? [[address.url], ['--transport', 'http']]
      : [
          [address.command, ...address.args],
          Object.entries(address.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
        ];
  const env = { ...process.env, HOME: home };
  return new Promise((done, failed) => {
    execFile(process.execPath, [program, ...target, ...call, ...options], { env }, (error, stdout, stderr) =>
      // The Inspector fails with a result that is an error, which it prints nevertheless.
      error && !stdout.includes('"isError": true')
        ? failed(new Error(`${stdout}${stderr}`.slice(-1_000)))
        : done(stdout),
    );
  });
}

type CallTool = Parameters<typeof browseAndCall>[0];

async function readEach(calls: readonly WantedCall[], callTool: CallTool): Promise<Read> {
  const read: Read = new Map();
  for (const { server, text } of calls) read.set(server, await browseAndCall(callTool, server, text));
  return read;
}
