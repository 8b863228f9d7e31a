import { describe, expect, it } from 'vitest';
import { providerOf, type RecordsInputs, recordsDefinition } from '../../src/extension/gateway/recordsDefinition.ts';
import { RecordsServer } from '../../src/extension/gateway/recordsServer.ts';
import { Observable } from '../../src/extension/observable.ts';

const inputs: RecordsInputs = {
  distFolder: '/extensions/waygate/dist',
  extensionVersion: '0.1.0',
  recordsUrl: ' https://records.example.com ',
  folder: '/work/project',
  nodePath: '',
  execPath: '/editor/node',
};

describe('the definition of the record server', () => {
  it('runs the bundled program for the provider, in no folder of the workspace, and has no token', () => {
    const data = recordsDefinition(inputs);
    expect(data).toEqual({
      label: 'Waygate Records',
      command: '/editor/node',
      args: ['/extensions/waygate/dist/waygate.cjs', 'records', '--provider-url', 'https://records.example.com'],
      env: { ELECTRON_RUN_AS_NODE: '1' },
      version: expect.stringMatching(/^0\.1\.0\+[0-9a-f]{12}$/),
    });
    expect(providerOf(data?.args ?? [])).toBe('https://records.example.com');
  });

  it('does not exist without a provider', () => {
    expect(recordsDefinition({ ...inputs, recordsUrl: '  ' })).toBeUndefined();
    expect(providerOf(['serve'])).toBeUndefined();
  });

  it('reads the records of the first folder without a provider and without a token', () => {
    const data = recordsDefinition({ ...inputs, recordsUrl: ' embedded ' });
    expect(data?.args).toEqual(['/extensions/waygate/dist/waygate.cjs', 'records', '--workspace', '/work/project']);
    // The editor asks for a token where there is an address.
    expect(providerOf(data?.args ?? [])).toBeUndefined();
    // An address in the environment of the editor means no provider here.
    expect(data?.env).toEqual({
      ELECTRON_RUN_AS_NODE: '1',
      WAYGATE_RECORDS_PROVIDER_URL: '',
      PDPP_PROVIDER_URL: '',
    });
    const other = recordsDefinition({ ...inputs, recordsUrl: 'embedded', folder: '/work/other' });
    expect(other?.version).not.toBe(data?.version);
    expect(recordsDefinition({ ...inputs, recordsUrl: 'embedded', folder: undefined })).toBeUndefined();
  });

  it('follows the first folder', () => {
    const settings = new Observable({ recordsUrl: 'embedded', nodePath: '' });
    const folders = new Observable([{ place: { path: undefined as string | undefined } }]);
    const server = new RecordsServer({ distFolder: '/dist', version: '0.1.0' }, settings, folders, undefined as never);
    const seen: unknown[] = [server.definition.value];
    server.definition.onChange((data) => seen.push(data?.args.at(-1)));
    folders.set([{ place: { path: '/a' } }, { place: { path: '/b' } }]);
    folders.set([{ place: { path: '/a' } }]);
    folders.set([{ place: { path: '/b' } }]);
    server.dispose();
    folders.set([{ place: { path: '/c' } }]);
    expect(seen).toEqual([undefined, '/a', '/b']);
  });

  it('has another version for another provider, so that the editor reads its tools again', () => {
    const other = recordsDefinition({ ...inputs, recordsUrl: 'https://other.example' });
    expect(other?.version).not.toBe(recordsDefinition(inputs)?.version);
  });

  it('follows the settings', () => {
    const settings = new Observable({ recordsUrl: '', nodePath: '' });
    const installation = { distFolder: '/dist', version: '0.1.0' };
    const server = new RecordsServer(installation, settings, new Observable([]), undefined as never);
    const seen: unknown[] = [];
    server.definition.onChange((data) => seen.push(data?.args.at(-1)));
    settings.set({ recordsUrl: 'https://a.example', nodePath: '' });
    settings.set({ recordsUrl: 'https://a.example', nodePath: '' });
    settings.set({ recordsUrl: '', nodePath: '' });
    server.dispose();
    settings.set({ recordsUrl: 'https://b.example', nodePath: '' });
    expect(seen).toEqual(['https://a.example', undefined]);
  });
});
