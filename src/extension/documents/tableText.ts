/** Renders rows as CSV, which spreadsheets read. A cell that would be a formula stays text. */
export function asCsv(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (text: string): string => {
    const harmless = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  };
  return `${[columns, ...rows].map((row) => columns.map((_, index) => cell(row[index] ?? '')).join(',')).join('\r\n')}\r\n`;
}

/** Renders rows as a table in Markdown. */
export function asMarkdown(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${columns.map((_, index) => (cells[index] ?? '').replace(/[\\|`<[\]*_]/g, '\\$&').replace(/\r?\n|\r/g, ' ')).join(' | ')} |`;
  const rule = `| ${columns.map(() => '---').join(' | ')} |`;
  return `${[line(columns), rule, ...rows.map(line)].join('\n')}\n`;
}
