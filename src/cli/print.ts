/** Prints lines, or the same as data with `--json`. */
export function print(json: boolean, data: unknown, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(data, null, 2)}\n` : text);
}
