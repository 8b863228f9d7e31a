/** What a command has to say: lines, or the same as data where that was asked for (`--json`). */
export function print(json: boolean, data: unknown, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(data, null, 2)}\n` : text);
}
