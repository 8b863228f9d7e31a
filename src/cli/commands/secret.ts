import { ConfigLayers } from '../../config/configLayers.ts';
import { INPUT_PREFIX, referencesIn } from '../../config/secretReferences.ts';
import { FileSecrets } from '../../config/state/fileSecrets.ts';
import { stateRoot } from '../../config/state/stateFolder.ts';
import { attachControl, type GatewayTarget } from '../../host/attach/attachControl.ts';
import { nearest } from '../../text/nearest.ts';
import type { SecretCommand } from '../commands.ts';
import { print, printAside, printNext } from '../print.ts';
import { ownRuntime } from '../runtime.ts';
import { UsageError } from '../usageError.ts';

const CTRL_C = '\u0003';
const BACKSPACE: readonly string[] = ['\b', '\u007f'];

/** Manages secrets for `${secret:NAME}` and answers for `${input:ID}`. Reads a value from stdin and never prints it. */
export async function secret({ action, secret: name, json, ...target }: SecretCommand): Promise<number> {
  const secrets = new FileSecrets(stateRoot(), target.workspace);
  if (action === 'list') {
    const names = secrets.names();
    print(json, { names }, names.length > 0 ? `${names.join('\n')}\n` : 'No secret is set.\n');
    return 0;
  }
  if (action === 'delete') {
    if (!secrets.delete(name)) throw new Error(`there is no secret "${name}"; see waygate secret list.`);
    print(json, { deleted: name }, `Deleted ${name}.\n`);
    return 0;
  }
  const referred = refersTo(target);
  const meant = referred.includes(name) ? undefined : nearestName(name, referred);
  if (meant !== undefined) throw new UsageError(`no server here refers to "${name}"; did you mean "${meant}"?`);
  const value = process.stdin.isTTY ? await readHidden(`Value of ${name}: `) : await readAll();
  if (value === '') throw new Error(`the value of "${name}" is empty; give it on stdin.`);
  secrets.set(name, value);
  print(json, { set: name, file: secrets.file }, `Set ${name} in ${secrets.file}.\n`);
  await refreshRunning(target);
  const written = name.startsWith(INPUT_PREFIX) ? name : `secret:${name}`;
  printNext(
    json,
    referred.includes(name)
      ? 'waygate status shows whether the server starts.'
      : `write $\{${written}} where a server of waygate.json needs it; none does yet.`,
  );
  return 0;
}

/** Returns the names that servers of the workspace refer to. */
function refersTo({ workspace, configFile }: GatewayTarget): string[] {
  return referencesIn(new ConfigLayers(workspace, process.env, configFile).load().servers);
}

/** Finds a mistyped name. An input without its prefix would be kept as a secret that nothing reads. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  const input = INPUT_PREFIX + name;
  return known.includes(input) ? input : nearest(name, known);
}

/** Reads all input and removes one trailing newline, which the shell adds. */
async function readAll(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

function readHidden(question: string): Promise<string> {
  printAside(question);
  process.stdin.setRawMode(true).setEncoding('utf8').resume();
  return new Promise((resolve, reject) => {
    let value = '';
    const finish = (settle: () => void): void => {
      process.stdin.setRawMode(false).pause();
      printAside('\n');
      settle();
    };
    process.stdin.on('data', (typed: string) => {
      for (const character of typed) {
        if (character === '\r' || character === '\n') return finish(() => resolve(value));
        if (character === CTRL_C) return finish(() => reject(new Error('cancelled; nothing was set.')));
        value = BACKSPACE.includes(character) ? value.slice(0, -1) : value + character;
      }
    });
  });
}

/** Makes a running gateway reconnect its servers, without waiting for the result. */
async function refreshRunning(target: GatewayTarget): Promise<boolean> {
  const control = await attachControl(ownRuntime(target), { start: false, holds: false });
  if (!control) return false;
  // Answers when the work has begun.
  await control.request('refresh', {});
  control.dispose();
  return true;
}
