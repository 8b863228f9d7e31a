import { BUILD } from '../lib/build.ts';
import { normalisationNote } from '../text/normalise.ts';
import { parseCommandLine } from './commandLine.ts';
import { printAside, printProblem, printText } from './print.ts';
import type { OtherCommand } from './runCommand.ts';
import type { UsageError } from './usageError.ts';

const EXIT_FAILED = 1;

async function main(): Promise<number> {
  const command = parseCommandLine(process.argv.slice(2), (applied) => {
    printProblem(normalisationNote(applied));
  });
  switch (command.name) {
    case 'help': {
      const { printHelp } = await import('./runCommand.ts');
      return printHelp(command.about, command.aside);
    }
    case 'version':
      (command.aside ? printAside : printText)(`waygate ${BUILD}\n`);
      return 0;
    case 'serve': {
      if (command.http) {
        const { serveHttp } = await import('./runCommand.ts');
        return serveHttp(command, command.http);
      }
      const { serve } = await import('./commands/serve/serve.ts');
      return serve(command);
    }
    case 'records': {
      if (command.action !== undefined) return other(command);
      const { serveRecords } = await import('./commands/records/serveRecords.ts');
      return serveRecords(command);
    }
    default:
      return other(command);
  }
}

async function other(command: OtherCommand): Promise<number> {
  const { runCommand } = await import('./runCommand.ts');
  return runCommand(command);
}

/** Returns the exit code by the error's name: another bundle has its own class of the same name. */
function exitCodeOf(error: Error): number {
  return error.name === 'UsageError' ? (error as UsageError).exitCode : EXIT_FAILED;
}

/**
 * Time to flush stdout. A client that has closed its input may never read again, and the host must exit within a
 * second.
 */
const FLUSH_MS = 200;

// The reader may exit first. An output error ends the output, not the program.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

main().then(
  (code) => {
    // Flush all output first; then exit even if something keeps the process alive.
    process.exitCode = code;
    process.stdout.write('', () => process.exit(code));
    if (process.argv[2] === 'serve') setTimeout(() => process.exit(code), FLUSH_MS);
  },
  (error: Error) => {
    printProblem(error.message);
    process.exit(exitCodeOf(error));
  },
);
