import { homedir } from 'node:os';
import { basename } from 'node:path';
import { INPUT_PREFIX, markReference, SECRET_NAME } from './secretReferences.ts';

export interface VariableScope {
  workspace: string;
  /** Environment at the start of the gateway. Clients that attach later do not change it. */
  env: NodeJS.ProcessEnv;
  /** Ids of the inputs that the configuration declares. */
  inputs: ReadonlyMap<string, unknown>;
  /** Leaves `${env:NAME}` as it is. */
  keepsEnvironment?: boolean;
}

/** Error for a reference that cannot be resolved, in one sentence. */
export class VariableError extends Error {
  override readonly name = 'VariableError';
}

/**
 * Replaces `${workspaceFolder}`, `${userHome}` and `${env:NAME}`, as in VS Code's mcp.json. `${input:id}` and
 * `${secret:NAME}` stay references, which the start of the server resolves.
 */
export function resolveVariables(text: string, scope: VariableScope, secrets: boolean): string {
  return text.replace(/\$\{([^}]*)\}/g, (whole, reference: string) => {
    if (reference === 'workspaceFolder') return scope.workspace;
    if (reference === 'workspaceFolderBasename') return basename(scope.workspace);
    if (reference === 'userHome') return homedir();
    if (reference.startsWith('env:')) {
      const name = reference.slice(4);
      const value = scope.keepsEnvironment ? whole : scope.env[name];
      if (value === undefined) {
        throw new VariableError(
          `The environment variable ${name} of "${whole}" is not set in the environment of the gateway; set it there and restart the gateway.`,
        );
      }
      return value;
    }
    if (reference.startsWith(INPUT_PREFIX) || reference.startsWith('secret:'))
      return mark(reference, whole, scope, secrets);
    throw new VariableError(
      `"${whole}" is not a known variable; use \${workspaceFolder}, \${workspaceFolderBasename}, \${userHome}, \${env:NAME}, \${input:id} or \${secret:NAME}.`,
    );
  });
}

function mark(reference: string, whole: string, { inputs }: VariableScope, allowed: boolean): string {
  if (!allowed)
    throw new VariableError(
      `"${whole}" is not allowed here; use secrets in "env", "args", "headers", "url" or "auth.clientSecret".`,
    );
  const isInput = reference.startsWith(INPUT_PREFIX);
  const name = reference.slice(reference.indexOf(':') + 1);
  if (isInput && !inputs.has(name)) {
    throw new VariableError(`"${whole}" names no entry of "inputs"; add one.`);
  }
  if (!SECRET_NAME.test(name)) throw new VariableError(`"${whole}" needs a name of letters, digits, "_", "." and "-".`);
  return markReference(isInput ? reference : name);
}
