import { FileSecrets } from '../../config/state/fileSecrets.ts';
import { stateRoot } from '../../config/state/stateFolder.ts';
import { attachControl, type GatewayTarget } from '../../host/attach/attachControl.ts';
import type { SecretCommand } from '../commands.ts';
import { print } from '../print.ts';
import { ownRuntime } from '../runtime.ts';

const CTRL_C = '\u0003';
const BACKSPACE = /[\b\u007f]/;

/** Secrets for `${secret:NAME}` and answers for `${input:ID}`. A value is read from stdin and never printed. */
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
  const value = process.stdin.isTTY ? await readHidden(`Value of ${name}: `) : await readAll();
  if (value === '') throw new Error(`the value of "${name}" is empty; give it on stdin.`);
  secrets.set(name, value);
  print(json, { set: name, file: secrets.file }, `Set ${name} in ${secrets.file}.\n`);
  await refreshRunning(target);
  return 0;
}

/** Reads all input without one newline at the end, which is the shell's. */
async function readAll(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

function readHidden(question: string): Promise<string> {
  process.stderr.write(question);
  process.stdin.setRawMode(true).setEncoding('utf8').resume();
  return new Promise((resolve, reject) => {
    let value = '';
    const finish = (settle: () => void): void => {
      process.stdin.setRawMode(false).pause();
      process.stderr.write('\n');
      settle();
    };
    process.stdin.on('data', (typed: string) => {
      for (const character of typed) {
        if (character === '\r' || character === '\n') return finish(() => resolve(value));
        if (character === CTRL_C) return finish(() => reject(new Error('nothing was set.')));
        value = BACKSPACE.test(character) ? value.slice(0, -1) : value + character;
      }
    });
  });
}

/** Has a gateway, if it runs, look at its servers again. It need not be waited for. */
async function refreshRunning(target: GatewayTarget): Promise<boolean> {
  const control = await attachControl(ownRuntime(target), { start: false, holds: false });
  if (!control) return false;
  // The answer comes when every server has answered; that the request has arrived is told by the next one's answer.
  void control.request('refresh', {}).catch(() => undefined);
  await control.request('status', {});
  control.dispose();
  return true;
}
