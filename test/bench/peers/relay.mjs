// Floor of every gateway of two processes: relays frames from stdin over a local socket to a server, and back. Each
// process parses a frame once, writes it once, and does nothing else.
// `node relay.mjs [--announce] SERVER [ARGUMENTS]`. With --announce, the second process reports each call to the first
// one before it sends the call, as the worker of Waygate does, so that no call is lost unnoticed.
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ANNOUNCED = 'announced';

/** @param {import('node:stream').Readable} input @param {(message: Record<string, unknown>) => void} onMessage */
function read(input, onMessage) {
  let rest = '';
  input.setEncoding('utf8').on('data', (chunk) => {
    const lines = chunk.split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop();
    for (const line of lines) onMessage(JSON.parse(line));
  });
}

/** @param {import('node:stream').Writable} output @param {object} message */
function write(output, message) {
  output.write(`${JSON.stringify(message)}\n`);
}

/** @param {string[]} args */
function first(args) {
  const path =
    process.platform === 'win32' ? `\\\\.\\pipe\\relay-${process.pid}` : join(tmpdir(), `relay-${process.pid}`);
  const listener = createServer((socket) => {
    listener.close();
    read(process.stdin, (message) => write(socket, message));
    read(socket, (message) => {
      if (message.method !== ANNOUNCED) write(process.stdout, message);
    });
    process.stdin.on('end', () => socket.destroy());
    socket.on('close', () => process.exit());
  });
  listener.listen(path, () => {
    spawn(process.execPath, [import.meta.filename, '--second', path, ...args], { stdio: 'ignore' });
  });
}

/** @param {string} path @param {string[]} args */
function second(path, args) {
  const isAnnounced = args[0] === '--announce';
  const child = spawn(process.execPath, isAnnounced ? args.slice(1) : args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const socket = connect(path);
  read(socket, (message) => {
    if (isAnnounced) write(socket, { method: ANNOUNCED, id: message.id });
    write(child.stdin, message);
  });
  read(child.stdout, (message) => write(socket, message));
  socket.on('close', () => child.kill());
}

const [, , ...args] = process.argv;
if (args[0] === '--second') second(args[1] ?? '', args.slice(2));
else first(args);
