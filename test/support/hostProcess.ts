import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve as absolute } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { giveCompiledCode } from './compileCache.ts';
import { atEnd } from './lifetime.ts';
import { type TestWorkspace, WAYGATE } from './workspace.ts';

export interface RpcMessage {
  id?: number | string | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

export interface ToolAnswer {
  /** Text without the fence around foreign data, which `test/integration/oneVoice.test.ts` covers. */
  text: string;
  isError: boolean;
  content: Record<string, unknown>[];
  structured: Record<string, unknown> | undefined;
}

/** MCP client over two streams, one message a line. */
export class StreamClient {
  /** Every line from the server: each must be a protocol message. */
  readonly lines: string[] = [];
  /** Requests from the server, in order. */
  readonly asked: RpcMessage[] = [];
  /** Notifications from the server, in order. */
  readonly notifications: RpcMessage[] = [];
  readonly #toServer: Writable;
  #next = 1;
  readonly #answers = new Map<string, (params: Record<string, unknown>) => object | Promise<object>>();
  readonly #waiting = new Map<number | string, (message: RpcMessage) => void>();
  readonly #listeners: ((message: RpcMessage) => void)[] = [];

  constructor(toServer: Writable, fromServer: Readable) {
    this.#toServer = toServer;
    // Not readline, which takes U+2028 for the end of a line.
    let received = '';
    const onLine = (line: string): void => {
      this.lines.push(line);
      const message = JSON.parse(line) as RpcMessage;
      for (const listener of this.#listeners) listener(message);
      if (message.method !== undefined) void this.#onMessage(message);
      else if (message.id != null) this.#waiting.get(message.id)?.(message);
    };
    fromServer.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (received + chunk).split('\n');
      received = lines.pop() as string;
      for (const line of lines) onLine(line);
    });
  }

  /** Calls `listener` for every message that arrives from now on. */
  onMessage(listener: (message: RpcMessage) => void): void {
    this.#listeners.push(listener);
  }

  /** Answers the server's requests of this method from now on. Other requests stay open. */
  answer(method: string, answer: (params: Record<string, unknown>) => object | Promise<object>): void {
    this.#answers.set(method, answer);
  }

  async #onMessage(message: RpcMessage): Promise<void> {
    const { id, method, params = {} } = message;
    if (id == null) this.notifications.push(message);
    else {
      this.asked.push(message);
      const result = await this.#answers.get(method as string)?.(params);
      if (result) this.write(JSON.stringify({ jsonrpc: '2.0', id, result }));
    }
  }

  async initialize(params: Record<string, unknown> = {}): Promise<RpcMessage> {
    const answer = await this.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test-client', version: '1.2.3' },
      ...params,
    });
    this.notify('notifications/initialized');
    return answer;
  }

  request(method: string, params: unknown = {}, id: number | string = this.#next++): Promise<RpcMessage> {
    const answer = new Promise<RpcMessage>((resolve) => this.#waiting.set(id, resolve));
    this.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return answer;
  }

  notify(method: string, params: unknown = {}): void {
    this.write(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  write(line: string): void {
    this.#toServer.write(`${line}\n`);
  }

  async call(name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
    const { result, error } = await this.request('tools/call', { name, arguments: args });
    if (!result) throw new Error(`tools/call ${name} was refused: ${JSON.stringify(error)}`);
    const content = result.content as Record<string, unknown>[];
    return {
      text: withoutFence(content.map((part) => part.text ?? '').join('')),
      isError: result.isError === true,
      content,
      structured: result.structuredContent as Record<string, unknown> | undefined,
    };
  }

  /** Waits for the tool at `path` and returns its id. */
  async toolId(path: string): Promise<string> {
    return until(`a tool at ${path}`, async () => {
      const { structured } = await this.call('tool_browse', { path, render: 'json' });
      const cards = (structured?.cards ?? []) as { id: string; kind: string }[];
      return cards.find((card) => card.kind === 'tool')?.id;
    });
  }

  end(): void {
    this.#toServer.end();
  }
}

/** Environment of a `waygate` that takes its worker for hung after a fifth of the usual time. */
export const SHORT_SILENCE = { NODE_OPTIONS: `--require ${absolute('test/fixtures/shortSilence.cjs')}` };

/** Client of a real `waygate serve` process. */
export class HostProcess extends StreamClient {
  readonly child: ChildProcessWithoutNullStreams;
  stderr = '';
  readonly exited: Promise<number | null>;

  constructor(workspace: TestWorkspace, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
    giveCompiledCode(workspace.stateDir);
    const command = [workspace.program ?? WAYGATE, 'serve', '--workspace', workspace.folder, ...args];
    const child = spawn(process.execPath, command, { env: { ...workspace.env, ...env } });
    super(child.stdin, child.stdout);
    this.child = child;
    // A test that kills a host breaks its pipe, and looks at the exit.
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (chunk) => {
      this.stderr += chunk;
    });
    this.exited = new Promise((resolve) => child.once('close', (code) => resolve(code)));
    atEnd(async () => {
      child.kill('SIGKILL');
      await this.exited;
    });
  }

  static async connect(
    workspace: TestWorkspace,
    args: readonly string[] = [],
    capabilities: object = {},
    env: NodeJS.ProcessEnv = {},
  ): Promise<HostProcess> {
    const host = new HostProcess(workspace, args, env);
    await host.initialize({ capabilities });
    return host;
  }
}

/** Removes the fence of a result: `ok · data from one`, the data and `end of data` become `ok` and the data. */
export function withoutFence(text: string): string {
  const [, status, data, rest] = /^(.*?) · data from \S+\n([\s\S]*)\nend of data(?:\n|$)([\s\S]*)$/.exec(text) ?? [];
  if (status === undefined) return text;
  return `${status}${status.startsWith('Error') ? ': ' : '\n'}${data}\n${rest}`;
}

/** Removes the note (`tool_id`) from the answer to a call that names a tool without its hash. */
export function withoutIdNote<Answer extends ToolAnswer>(answer: Answer): Answer {
  return { ...answer, text: answer.text.replace(/^note: "[^"\n]+" was read as "[^"\n]+" \(tool_id\)\n/m, '') };
}

/** Polls until there is a value; the limit allows for a busy machine. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`);
}

/** Processes that have written their id into a file, in order. */
export function pidsIn(file: string): number[] {
  return readFileSync(file, 'utf8').split(/\s+/).map(Number).filter(isPid);
}

/** An empty file reads as 0, which would address the test runner's whole process group. */
function isPid(pid: number): boolean {
  return Number.isInteger(pid) && pid > 0;
}

/** Returns whether a process runs. A zombie does not count. */
export function isAlive(pid: number): boolean {
  if (!isPid(pid)) return false;
  try {
    process.kill(pid, 0);
    // A zombie's command line is empty.
    return process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

/** Filters out reused process ids: the process must have this argument on its command line. */
export function isAliveWith(argument: string): (pid: number) => boolean {
  return (pid) =>
    isAlive(pid) && (process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(argument));
}
