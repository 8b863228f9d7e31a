import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { bundled } from './bundledFixtures.ts';
import { giveCompiledCode } from './compileCache.ts';
import { until } from './hostProcess.ts';
import { atEnd } from './lifetime.ts';
import { type TestWorkspace, WAYGATE } from './workspace.ts';

/** Separate process that serves MCP on a URL. */
export class HttpProcess {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = '';
  stderr = '';
  readonly exited: Promise<number | null>;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, args, { env });
    this.child.stdout.on('data', (chunk) => {
      this.stdout += chunk;
    });
    this.child.stderr.on('data', (chunk) => {
      this.stderr += chunk;
    });
    this.exited = new Promise((done) => this.child.once('close', (code) => done(code)));
    atEnd(async () => {
      this.child.kill('SIGKILL');
      await this.exited;
    });
  }

  /** Real `waygate serve --http` on any free port. */
  static waygate(workspace: TestWorkspace, args: readonly string[] = []): HttpProcess {
    giveCompiledCode(workspace.stateDir);
    const command = [WAYGATE, 'serve', '--http', '--port', '0', '--workspace', workspace.folder, ...args];
    return new HttpProcess(command, workspace.env);
  }

  /** Fixture of the conformance suites, on the SDK's own transport. */
  static fixture(): HttpProcess {
    return new HttpProcess([bundled('conformanceServer.mjs'), '--http'], process.env);
  }

  /** Server with tasks. */
  static tasks(...flags: string[]): HttpProcess {
    return new HttpProcess([resolve('test/fixtures/tasksServer.mjs'), '--http', ...flags], process.env);
  }

  /** Resolves to its URL once it listens. */
  url(): Promise<string> {
    return until('the URL', () => /http:\/\/\S+(?=\n)/.exec(this.stdout + this.stderr)?.[0]);
  }

  /** Reads the token from the file that it names. */
  async token(): Promise<string> {
    return readFileSync(await this.tokenFile(), 'utf8').trim();
  }

  tokenFile(): Promise<string> {
    return until('the token file', () => /bearer token is in (.*)\n/.exec(this.stderr)?.[1]);
  }
}
