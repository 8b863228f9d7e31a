import { INPUT_PREFIX } from '../../../config/secretReferences.ts';
import { FileSecrets } from '../../../config/state/fileSecrets.ts';
import { stateRoot } from '../../../config/state/stateFolder.ts';
import type { EditorSecrets } from '../../gateway/editorSecrets.ts';

/** Returns the value of a secret, which the editor's store or the private file keeps. */
export async function secretValue(
  secrets: EditorSecrets,
  workspace: string,
  name: string,
): Promise<string | undefined> {
  const { value } = await secrets.answer({ op: 'get', key: name });
  return value ?? new FileSecrets(stateRoot(), workspace).get(name);
}

export async function isSecretSet(secrets: EditorSecrets, workspace: string, name: string): Promise<boolean> {
  return (await secretValue(secrets, workspace, name)) !== undefined;
}

/** Returns the names of all kept secrets; inputs are no secrets. */
export async function secretNames(secrets: EditorSecrets, workspace: string): Promise<string[]> {
  const names = [...(await secrets.names()), ...new FileSecrets(stateRoot(), workspace).names()];
  return [...new Set(names)].filter((name) => !name.startsWith(INPUT_PREFIX)).sort();
}
