import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Reading, ScriptedModel, type ToolCall } from '../support/model/scriptedModel.ts';
import type { Address } from '../support/wire/eraWorld.ts';
import { echoIn } from '../support/wire/sdkClients.ts';
import { temporaryFolder } from '../support/workspace.ts';
import type { ClientProgram, Read, WantedCall } from './clientProgram.ts';

const TURN_MS = 150_000;

export interface AgentPlace {
  address: Address;
  /** Address of the model, without a path. */
  model: string;
  /** Home folder of this run. */
  home: string;
  prompt: string;
}

export interface AgentStart {
  program: string;
  args: string[];
  env?: Record<string, string>;
  /** Files to write before, by their path below the home folder. */
  files?: Record<string, string>;
}

export interface Agent extends Omit<ClientProgram, 'run'> {
  start(place: AgentPlace): AgentStart;
}

/** Makes an agent a client whose model is a script: it browses each server, and calls the tools that it found. */
export function agentProgram({ start, ...about }: Agent): ClientProgram {
  return {
    ...about,
    async run(address, calls, folder) {
      const model = await ScriptedModel.start();
      const home = temporaryFolder('waygate-agent-');
      try {
        const script = new Script(calls);
        const { turn, mark } = model.expect(
          Array.from({ length: MOST_STEPS }, () => (reading) => script.next(reading)),
        );
        const prompt = `Please do it. ${mark}`;
        const output = await ended(start({ address, model: model.origin, home, prompt }), home, folder);
        if (turn.failure !== undefined) throw turn.failure;
        if (!script.read) {
          throw new Error(`It ended after ${turn.readings.length} requests to its model: ${output.slice(-2_000)}`);
        }
        return script.read;
      } finally {
        model.close();
      }
    },
  };
}

/** Bound for a client that never offers the tools. */
const MOST_STEPS = 8;

class Script {
  readonly #calls: readonly WantedCall[];
  #hasBrowsed = false;
  #hasCalled = false;
  /** Set at the end. */
  read: Read | undefined;

  constructor(calls: readonly WantedCall[]) {
    this.#calls = calls;
  }

  next(reading: Reading): ToolCall[] {
    const offered = (end: string): string | undefined => reading.tools.find(({ name }) => name.endsWith(end))?.name;
    const [browse, execute, wait] = [offered('tool_browse'), offered('tool_execute'), offered('WaitForMcpServers')];
    if (!browse || !execute) {
      // Claude Code asks its model before its servers have answered, and gives it this tool.
      if (wait) return [{ tool: wait, args: {} }];
      throw new Error(`The client does not offer the tools: ${reading.tools.map(({ name }) => name).join(' ')}`);
    }
    if (!this.#hasBrowsed) {
      this.#hasBrowsed = true;
      return this.#calls.map(({ server }) => ({ tool: browse, args: { path: `/${server}` } }));
    }
    if (!this.#hasCalled) {
      this.#hasCalled = true;
      const listings = reading.results.join('\n');
      return this.#calls.map(({ server, text }) => ({
        tool: execute,
        args: { tool_id: echoIn(listings, server), args: { text } },
      }));
    }
    this.read = byServer(this.#calls, reading.results);
    return [];
  }
}

/** Some clients return results in the order in which they arrived, or those of earlier steps too. */
function byServer(calls: readonly WantedCall[], results: readonly string[]): Read {
  const of = ({ server, text }: WantedCall, at: number): string => {
    const answered = results.find((one) => one.includes(text));
    return (
      answered ?? results.find((one) => one.includes(`waygate allow ${server}:`)) ?? results.at(at - calls.length) ?? ''
    );
  };
  return new Map(calls.map((call, at) => [call.server, of(call, at)]));
}

/** Nothing but loopback is reachable through this proxy, because nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

/** Runs the client to its end, in a home of its own, and returns its output. */
export function ended({ program, args, env, files = {} }: AgentStart, home: string, folder: string): Promise<string> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...{ PATH: process.env.PATH, HOME: home, TERM: 'dumb', USERPROFILE: home, CI: '1' },
      ...{
        HTTP_PROXY: NOWHERE,
        HTTPS_PROXY: NOWHERE,
        NO_PROXY: '127.0.0.1,localhost',
        no_proxy: '127.0.0.1,localhost',
      },
      ...env,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), TURN_MS);
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', () => {
      clearTimeout(timer);
      done(output);
    });
  });
}
