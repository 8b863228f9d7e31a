import { BUILD } from '../lib/build.ts';
import { normalisationNote } from '../text/normalise.ts';
import { parseCommandLine } from './commandLine.ts';
import { HELP } from './help.ts';
import type { UsageError } from './usageError.ts';

const EXIT_FAILED = 1;

async function main(): Promise<number> {
  const command = parseCommandLine(process.argv.slice(2), (told) => {
    process.stderr.write(`waygate: ${normalisationNote(told)}\n`);
  });
  switch (command.name) {
    case 'help':
      process.stdout.write(HELP());
      return 0;
    case 'version':
      process.stdout.write(`waygate ${BUILD}\n`);
      return 0;
    case 'serve': {
      if (command.http) {
        const { serveHttp } = await import('./runCommand.ts');
        return serveHttp(command, command.http);
      }
      const { serve } = await import('./commands/serve.ts');
      return serve(command);
    }
    default: {
      const { runCommand } = await import('./runCommand.ts');
      return runCommand(command);
    }
  }
}

/** Returns the exit code by the name of the error: another bundle has another class of the same name. */
function exitCodeOf(error: Error): number {
  return error.name === 'UsageError' ? (error as UsageError).exitCode : EXIT_FAILED;
}

/** A client that has ended its input may never read again: the host must be gone within a second all the same. */
const FLUSH_MS = 200;

// Whoever reads us may go first: that ends the output, not the program.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

main().then(
  (code) => {
    // Whatever was written leaves first; then nothing may keep the process.
    process.exitCode = code;
    process.stdout.write('', () => process.exit(code));
    if (process.argv[2] === 'serve') setTimeout(() => process.exit(code), FLUSH_MS);
  },
  (error: Error) => {
    process.stderr.write(`waygate: ${error.message}\n`);
    process.exit(exitCodeOf(error));
  },
);
