import { homedir } from 'node:os';
import { basename } from 'node:path';

export interface VariableScope {
  workspace: string;
  env: NodeJS.ProcessEnv;
}

/** A reference that leads nowhere, told in one sentence. */
export class VariableError extends Error {
  override readonly name = 'VariableError';
}

/** Replaces `${workspaceFolder}`, `${userHome}` and `${env:NAME}`, as VS Code's mcp.json has them. */
export function resolveVariables(text: string, scope: VariableScope): string {
  return text.replace(/\$\{([^}]*)\}/g, (whole, reference: string) => {
    if (reference === 'workspaceFolder') return scope.workspace;
    if (reference === 'workspaceFolderBasename') return basename(scope.workspace);
    if (reference === 'userHome') return homedir();
    if (reference.startsWith('env:')) {
      const name = reference.slice(4);
      const value = scope.env[name];
      if (value === undefined) throw new VariableError(`The environment variable ${name} of "${whole}" is not set.`);
      return value;
    }
    throw new VariableError(
      `"${whole}" is not known here; use \${workspaceFolder}, \${workspaceFolderBasename}, \${userHome} or \${env:NAME}.`,
    );
  });
}
