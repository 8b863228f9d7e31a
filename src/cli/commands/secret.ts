import { ConfigLayers } from '../../config/configLayers.ts';
import { INPUT_PREFIX, referencesIn } from '../../config/secretReferences.ts';
import { FileSecrets } from '../../config/state/fileSecrets.ts';
import { stateRoot } from '../../config/state/stateFolder.ts';
import { attachControl, type GatewayTarget } from '../../host/attach/attachControl.ts';
import { nearest } from '../../text/nearest.ts';
import type { SecretCommand } from '../commands.ts';
import { errorsOf, print, printAside, printNext, printProblem } from '../print.ts';
import { ownRuntime } from '../runtime.ts';
import { UsageError } from '../usageError.ts';

const CTRL_C = '\u0003';
/** Limit of the names in an error. */
const MAX_NAMES = 5;
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
  requireReference(name, target);
  const value = process.stdin.isTTY ? await readHidden(`Value of ${name}: `) : await readAll();
  if (value === '') throw new Error(`the value of "${name}" is empty; give it on stdin.`);
  secrets.set(name, value);
  print(json, { set: name, file: secrets.file }, `Set ${name} in ${secrets.file}.\n`);
  await refreshRunning(target);
  printNext(json, 'waygate status shows whether the server starts.');
  return 0;
}

/** Refuses a name that no server of the workspace refers to: nothing would ever read its value. */
function requireReference(name: string, { workspace, configFile }: GatewayTarget): void {
  const config = new ConfigLayers(workspace, process.env, configFile).load();
  const names = referencesIn(config.servers);
  if (names.includes(name)) return;
  // A reference may stand in a part that cannot be read.
  for (const problem of errorsOf(config)) printProblem(problem);
  const meant = nearestName(name, names);
  const written = name.startsWith(INPUT_PREFIX) ? name : `secret:${name}`;
  const others = names.length === 0 ? '' : ` Servers refer to ${names.slice(0, MAX_NAMES).join(', ')}.`;
  const advice =
    meant === undefined ? `write $\{${written}} into waygate.json first.${others}` : `did you mean "${meant}"?`;
  throw new UsageError(`no server here refers to "${name}"; ${advice}`);
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
