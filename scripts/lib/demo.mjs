import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FILES = {
  'README.md': `# Waygate's demo

Three MCP servers stand behind Waygate here; \`.vscode/waygate.json\` names them. The filesystem server may read and
write the folder \`files/\`.

- **At the left**, behind the gate icon, are the tools of the three servers.
- **At the right** is the dashboard: calls, limits, servers and tools. *Waygate: Open Dashboard* brings it back.
- **Try a tool yourself**: open *filesystem* at the left, press ▷ beside *read_text_file*, write the path of a file in
  \`files/\`, and press *Run*.
- **Without an agent**, ask what one would find. Open a terminal and run:

  \`\`\`sh
  node WAYGATE browse "read a file"
  \`\`\`

- **With an agent**, sign in to Copilot, open the chat in agent mode, and watch the counts in the dashboard:
  - Which orders in files/orders.csv are still open?
  - Remember that Ada prefers delivery on Fridays.
  - What is the sum of 17 and 25? Use a tool.
`,
  'files/welcome.txt': `This text came through Waygate from the filesystem server.
`,
  'files/orders.csv': `order,customer,item,quantity,unit_price,status
1001,Ada,desk lamp,2,34.50,delivered
1002,Grace,office chair,1,189.00,open
1003,Alan,notebook,12,2.80,delivered
1004,Ada,standing desk,1,420.00,open
1005,Katherine,monitor arm,2,61.90,shipped
1006,Alan,desk lamp,1,34.50,cancelled
`,
  'files/customers.json': `${JSON.stringify(
    [
      { name: 'Ada', city: 'London', since: 2019, newsletter: true },
      { name: 'Grace', city: 'New York', since: 2021, newsletter: false },
      { name: 'Alan', city: 'Manchester', since: 2020, newsletter: false },
      { name: 'Katherine', city: 'Hampton', since: 2023, newsletter: true },
    ],
    null,
    2,
  )}
`,
  'files/notes/shipping.md': `# Shipping

- Orders over 150.00 ship free of charge.
- Desks are delivered on weekdays only; ask for a time before noon.
- The carrier collects at 16:00.
`,
};

/** @param {string} root @param {string} folder */
function configuration(root, folder) {
  const server = (/** @type {string} */ name, /** @type {string[]} */ ...args) => ({
    command: 'node',
    args: [join(root, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js'), ...args],
  });
  return {
    servers: {
      everything: server('everything', 'stdio'),
      filesystem: server('filesystem', join(folder, 'files')),
      memory: { ...server('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
    },
  };
}

/**
 * Writes the files of the demo workspace that do not exist yet. Changes of the user stay.
 * @param {string} root the work tree, whose packages hold the three servers
 * @param {string} folder
 */
export function writeDemoWorkspace(root, folder) {
  for (const [name, text] of Object.entries(FILES)) {
    const file = join(folder, name);
    if (existsSync(file)) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text.replaceAll('WAYGATE', join(root, 'dist', 'waygate.cjs')));
  }
  const file = join(folder, '.vscode', 'waygate.json');
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(configuration(root, folder), null, 2)}\n`);
}
