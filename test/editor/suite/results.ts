import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { workspaceStateFolder } from '../../../src/config/state/stateFolder.ts';
import { driver } from '../harness/driver.ts';
import { fixture, workspaceFolder } from './gateway.ts';

/** Keeps a result that no answer of a server may be. Another process does it, so that this one stays small. */
export function keep(name: string, content: string, mediaType: string): string {
  const source = (path: string): string => JSON.stringify(pathToFileURL(fixture(join('..', '..', 'src', path))).href);
  const script = `
    const { ArtifactStore } = await import(${source('results/artifacts/artifactStore.ts')});
    const { base64Content, textContent } = await import(${source('results/envelope/partContent.ts')});
    const store = new ArtifactStore({ folder: ${JSON.stringify(join(workspaceStateFolder(workspaceFolder()), 'artifacts'))} });
    const { handle } = await store.store({ kind: 'text', source: 'works:${name}', content: ${content}, mediaType: '${mediaType}', label: '${name}', owner: 'workspace' });
    process.stdout.write(handle);`;
  const options = ['--experimental-strip-types', '--no-warnings', '--input-type=module', '-e', script];
  return execFileSync(process.execPath, options, { encoding: 'utf8' });
}

/** Accepts the proposed place in VS Code's own dialog, and returns the file. */
export async function acceptPlace(title: string, name: string): Promise<string> {
  await driver.waitFor(`.quick-input-widget .quick-input-title:has-text("${title}")`);
  // The dialog lists the folder when it has found it.
  await driver.waitFor('.quick-input-widget .quick-input-list .monaco-list-row:has-text("files")');
  await driver.press('Enter');
  return join(workspaceFolder(), name);
}
