import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HostProcess, type RpcMessage, until } from '../../support/hostProcess.ts';
import { ModernCaller } from '../../support/modernClient.ts';
import { testWorkspace } from '../../support/workspace.ts';

/** User interfaces of servers (MCP Apps) keep their addresses and the metadata that name them. */

const URI = 'ui://weather/view.html';
const MIME = 'text/html;profile=mcp-app';
const UI = { resourceUri: URI, visibility: ['model', 'app'] };
const CONTENT_UI = { csp: { connectDomains: ['https://api.example.test'] }, prefersBorder: true };
const APPS = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [MIME] } } };

type Request = (method: string, params?: object) => Promise<RpcMessage>;

const workspace = () =>
  testWorkspace({ weather: { command: process.execPath, args: [resolve('test/fixtures/appServer.mjs')] } });
const ERAS: Record<string, (mode: string) => Promise<Request>> = {
  legacy: async (mode) => {
    const host = await HostProcess.connect(workspace(), ['--mode', mode], APPS);
    return (method, params) => host.request(method, params);
  },
  modern: async (mode) => {
    const client = ModernCaller.on(new HostProcess(workspace(), ['--mode', mode]), APPS);
    return (method, params) => client.request(method, params);
  },
};

describe.each(Object.keys(ERAS))('in the %s era, a user interface of a server', (era) => {
  const opened = (mode: string): Promise<Request> => (ERAS[era] as (mode: string) => Promise<Request>)(mode);

  it.each(['gateway', 'passthrough'])('is listed and read in the mode %s', async (mode) => {
    const request = await opened(mode);
    const listed = await until('the resource', async () => {
      const { result } = await request('resources/list');
      return ((result?.resources ?? []) as { uri: string }[]).find(({ uri }) => uri === URI);
    });
    expect(listed).toMatchObject({ uri: URI, mimeType: MIME, _meta: { ui: CONTENT_UI } });
    const { result } = await request('resources/read', { uri: URI });
    expect(result?.contents).toEqual([
      { uri: URI, mimeType: MIME, text: '<!doctype html><p id="sky">☀</p>', _meta: { ui: CONTENT_UI } },
    ]);
  });

  it('is named by its tool and the result of that in passthrough mode', async () => {
    const request = await opened('passthrough');
    const tool = await until('the tool', async () => {
      const { result } = await request('tools/list');
      return ((result?.tools ?? []) as { name: string }[]).find(({ name }) => name === 'forecast');
    });
    expect(tool).toMatchObject({ _meta: { ui: UI } });
    const { result } = await request('tools/call', { name: 'forecast', arguments: {} });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'sunny' }], _meta: { ui: UI } });
  });
});
