import { BUILD } from '../ops/build.ts';
import { parseCommandLine, UsageError } from './commandLine.ts';
import { HELP } from './help.ts';

/** Exit codes of sysexits.h: what a script can tell apart. */
export const EXIT_USAGE = 64;
const EXIT_FAILED = 1;

async function main(): Promise<number> {
  const command = parseCommandLine(process.argv.slice(2));
  switch (command.name) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'version':
      process.stdout.write(`waygate ${BUILD}\n`);
      return 0;
    case 'serve': {
      const { serve } = await import('./serve.ts');
      return serve(command.workspace);
    }
    case 'status': {
      const { status } = await import('./status.ts');
      return status(command.workspace, command.json);
    }
    case 'stop': {
      const { stop } = await import('./stop.ts');
      return stop(command.workspace);
    }
    case 'browse': {
      const { browse } = await import('./browse.ts');
      return browse(command);
    }
    case 'catalog': {
      const { catalog } = await import('./catalog.ts');
      return catalog(command);
    }
    case 'learned': {
      const { learned } = await import('./learned.ts');
      return learned(command);
    }
  }
}

main().then(
  (code) => {
    // Whatever was written leaves first; then nothing may keep the process.
    process.exitCode = code;
    process.stdout.write('', () => process.exit(code));
  },
  (error: Error) => {
    process.stderr.write(`waygate: ${error.message}\n`);
    process.exit(error instanceof UsageError ? error.exitCode : EXIT_FAILED);
  },
);
