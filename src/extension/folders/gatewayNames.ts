import { createHash } from 'node:crypto';

/** Name of the gateway of the first folder, and of the only one. */
export const FIRST_NAME = 'waygate';

/** Copilot builds the prefix of tools from so many characters, and keeps apart only servers whose prefixes differ. */
const MAX_NAME = 13;
const CHECK_CHARS = 4;

/**
 * Returns the names of the gateways of the folders, in the order of the workspace. Copilot recognizes the tools and the
 * instructions of a server by its name, so each consists of letters, digits and "-" and differs from the others within
 * its first characters. A name depends on the folder's own and on equal names before it: a folder that is added behind
 * the others renames none of them.
 */
export function gatewayNames(folders: readonly string[]): string[] {
  const names: string[] = [];
  for (const [index, folder] of folders.entries()) {
    let name = index === 0 ? FIRST_NAME : nameFrom(folder, 0);
    for (let attempt = 1; names.includes(name); attempt++) name = nameFrom(folder, attempt);
    names.push(name);
  }
  return names;
}

function nameFrom(folder: string, attempt: number): string {
  const lower = folder.toLowerCase();
  const plain = lower.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  const whole = `${plain}-${FIRST_NAME}`;
  if (attempt === 0 && plain !== '' && plain === lower && whole.length <= MAX_NAME) return whole;
  const start = plain.slice(0, MAX_NAME - CHECK_CHARS - 1).replace(/-+$/, '');
  return `${start || 'folder'}-${check(`${attempt} ${folder}`)}`;
}

function check(text: string): string {
  const digest = createHash('sha256').update(text).digest();
  return digest.readUIntBE(0, 6).toString(36).padStart(CHECK_CHARS, '0').slice(-CHECK_CHARS);
}
