import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { printAside, printText } from './print.ts';

/** Terminal of a command that asks. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** True if a person can answer questions. */
  interactive: boolean;
  /** Asks a question; anything but a clear answer means `otherwise`. */
  confirm(question: string, otherwise: boolean): Promise<boolean>;
}

/** Terminal that the program runs in. */
export function ownTerminal(): Terminal {
  return {
    out: printText,
    err: printAside,
    interactive: process.stdin.isTTY === true,
    confirm: async (question, otherwise) => {
      const prompt = createInterface({ input: process.stdin, output: process.stderr });
      try {
        const asked = prompt.question(`${question} ${otherwise ? '[Y/n]' : '[y/N]'} `);
        const answer = String(await Promise.race([asked, once(prompt, 'close').then(() => 'no')])).trim();
        return otherwise ? !/^n/i.test(answer) : /^y(es)?$/i.test(answer);
      } finally {
        prompt.close();
      }
    },
  };
}
