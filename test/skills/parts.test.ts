import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { skillParts, writeSkill } from '../../scripts/lib/skill.mjs';
import { temporaryFolder } from '../support/workspace.ts';

const parts = skillParts('.');

/** Package outside the repository: the parts as the skill brings them, Node's types, and nothing else. */
function strangersPackage() {
  const folder = temporaryFolder('waygate-parts-');
  writeSkill('.', join(folder, 'skill'));
  for (const name of ['@types/node', 'undici-types']) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name), 'junction');
  }
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  const run = (args: readonly string[], input = ''): { code: number | null; output: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', input });
    return { code: status, output: `${stdout}${stderr}` };
  };
  return {
    folder,
    run,
    runText: (text: string) => run(['--input-type=module-typescript', '--eval', text]).output,
  };
}

describe('parts of the skill', () => {
  it('are all files that its text names, and all that those import', () => {
    const { folder } = strangersPackage();
    expect(parts).toEqual(
      expect.arrayContaining([
        'src/replay/callJournal.ts',
        // Named by the folder only.
        'src/supervision/supervisor.ts',
        'src/link/lineFraming.ts',
        'src/host/session/sessionHost.ts',
        // Only imported.
        'src/host/attach/workerConnection.ts',
        'test/support/historyChecker.ts',
        'test/fixtures/faultServer.mjs',
      ]),
    );
    for (const file of parts) {
      expect(readFileSync(join(folder, 'skill/parts', file))).toEqual(readFileSync(file));
      for (const [, specifier] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)[^;]*? from '([^']+)'/gms)) {
        const isThere = existsSync(join(folder, 'skill/parts', dirname(file), specifier as string));
        expect(isThere || specifier?.startsWith('node:'), `${file}: ${specifier}`).toBe(true);
      }
    }
  });

  it('come with their license, and are not stored twice', () => {
    const { folder } = strangersPackage();
    expect(readFileSync(join(folder, 'skill/parts/LICENSE'), 'utf8')).toContain('Apache License');
    expect(existsSync('skills/mcp-bootstrap/parts')).toBe(false);
  });

  it.each([
    ['to be checked', { allowImportingTsExtensions: true, noEmit: true }],
    ['to be emitted', { rewriteRelativeImportExtensions: true, rootDir: '.', outDir: 'out' }],
  ])('compile on their own as the skill describes, %s', (_what, more) => {
    const { folder, run } = strangersPackage();
    const compilerOptions = { module: 'nodenext', types: ['node'], strict: true, target: 'es2023', ...more };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['skill/parts'] }));
    expect(run([resolve('node_modules/typescript/bin/tsc'), '-p', '.'])).toEqual({ code: 0, output: '' });
  });

  it('run unchanged', () => {
    const { folder, run } = strangersPackage();
    const sources = parts.filter((file) => file.endsWith('.ts'));
    const imports = sources.map((file) => `import './skill/parts/${file}';`).join('\n');
    writeFileSync(join(folder, 'all.ts'), imports);
    expect(run(['all.ts'])).toEqual({ code: 0, output: '' });
  });

  it('mention no product that their user does not have', () => {
    const { runText } = strangersPackage();
    const output = runText(
      `import { FAULT_CODES } from './skill/parts/src/errors/faultCodes.ts';
       import { customFault } from './skill/parts/src/errors/fault.ts';
       import { faultError } from './skill/parts/src/errors/faultError.ts';
       const fault = customFault(
         'unclassified',
         { class: 'invariant', directive: 'abort_request', recovery_hint: 'keep_worker' },
         { generation: 1, detail: 'x' },
         (text) => text,
       );
       console.log(faultError(fault, { subject: 'notes', knowledge: 'completed', contract: 'never_replay' }).message);
       for (const { says, advice } of Object.values(FAULT_CODES)) console.log(says, advice);`,
    );
    expect(output).toMatch(
      /^notes had an internal error\. Ask the user to look at this server, or use another tool\.\n/,
    );
    expect(output).not.toMatch(/Waygate/i);
  });

  const programs = parts.filter((file) => file.startsWith('test/fixtures/'));

  it('include a program that acts as a server', () => expect(programs).not.toEqual([]));

  it.each(programs)('include an MCP server whose log the checker reads: %s', (program) => {
    const { run, runText } = strangersPackage();
    const frame = (id: number, method: string, params: object): string =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    const act = (id: number, nonce: string): string => frame(id, 'tools/call', { name: 'act', arguments: { nonce } });
    const { output } = run(
      [`skill/parts/${program}`, '--effects', 'effects.log'],
      `${frame(0, 'initialize', { protocolVersion: '2025-11-25' })}${act(1, 'a')}${act(2, 'b')}`,
    );
    const answers = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; result: object });
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2]);
    expect(answers[0]?.result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: {} });
    const judged = runText(
      `import { readEffects, violationsOf } from './skill/parts/test/support/historyChecker.ts';
       const effects = readEffects('effects.log');
       const history = ['a', 'b'].flatMap((nonce, id) => [
         { event: 'invoke', id, nonce, contract: 'never_replay' } as const,
         { event: 'reply', id, outcome: 'ok', nonce } as const,
       ]);
       console.log(JSON.stringify([Object.keys(effects[0]), violationsOf(history, effects), violationsOf(history, [])]));`,
    );
    expect(JSON.parse(judged)).toEqual([
      ['nonce', 'attempt', 'pid'],
      [],
      ['a was reported as done and never ran', 'b was reported as done and never ran'],
    ]);
  });
});
