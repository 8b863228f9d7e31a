import { describe, expect, it } from 'vitest';
import {
  configurationHash,
  type DefinitionInputs,
  serverDefinition,
} from '../../src/extension/gateway/serverDefinition.ts';

const inputs: DefinitionInputs = {
  distFolder: '/extensions/waygate/dist',
  name: 'waygate',
  workspace: '/work/project',
  extensionVersion: '0.1.0',
  configurationHash: configurationHash(Buffer.from('{"servers":{}}')),
  nodePath: '',
  execPath: '/editor/node',
};

describe('MCP server definition', () => {
  it('runs the bundled host with the editor’s own Node in the workspace folder', () => {
    expect(serverDefinition(inputs)).toEqual({
      label: 'Waygate',
      command: '/editor/node',
      args: ['/extensions/waygate/dist/waygate.cjs', 'serve'],
      env: { ELECTRON_RUN_AS_NODE: '1' },
      version: '0.1.0+08163ece4308',
      cwd: '/work/project',
    });
  });

  it('is the same each time, so that the editor does not stop a running server', () => {
    expect(serverDefinition({ ...inputs })).toEqual(serverDefinition({ ...inputs }));
  });

  it('has another version when the extension or a byte of the configuration changes', () => {
    const versions = [
      inputs,
      { ...inputs, extensionVersion: '0.2.0' },
      { ...inputs, configurationHash: configurationHash(Buffer.from('{"servers":{} }')) },
    ].map((one) => serverDefinition(one)?.version);
    expect(new Set(versions).size).toBe(3);
  });

  it('uses another Node if the setting names one', () => {
    expect(serverDefinition({ ...inputs, nodePath: ' /opt/node/bin/node ' })?.command).toBe('/opt/node/bin/node');
    expect(serverDefinition({ ...inputs, nodePath: '  ' })?.command).toBe('/editor/node');
  });

  it('has the name of the folder’s gateway for the editor and for the client', () => {
    expect(serverDefinition({ ...inputs, name: 'api-waygate' })).toMatchObject({
      label: 'api-waygate',
      args: ['/extensions/waygate/dist/waygate.cjs', 'serve', '--name', 'api-waygate'],
    });
  });

  it('is undefined without a folder or a configuration', () => {
    expect(serverDefinition({ ...inputs, workspace: undefined })).toBeUndefined();
    expect(serverDefinition({ ...inputs, configurationHash: undefined })).toBeUndefined();
  });
});
