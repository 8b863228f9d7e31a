import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { DRIVER_ADDRESS, DRIVER_TOKEN, type DriverRequest, type DriverResponse } from './driverProtocol.ts';
import { workbench } from './workbench.ts';

/** Limit for every click or query in the window. */
const ACTION_LIMIT_MS = 10_000;

export interface DriverServer {
  /** Environment for the process of the tests. */
  environment: Record<string, string>;
  close(): void;
}

/** Serves the window to the tests inside it. Calls `findPage` once, for the first request. */
export async function startDriver(findPage: () => Promise<Page>, screenshots: string): Promise<DriverServer> {
  const token = randomBytes(16).toString('hex');
  const methods = async () => {
    const page = await findPage();
    page.setDefaultTimeout(ACTION_LIMIT_MS);
    return workbench(page, screenshots);
  };
  let window: ReturnType<typeof methods> | undefined;

  async function answer(request: IncomingMessage): Promise<DriverResponse> {
    if (request.headers.authorization !== `Bearer ${token}`) return { error: 'wrong token' };
    const { method, args } = (await json(request)) as DriverRequest;
    window ??= methods();
    const call = (await window)[method] as ((...args: unknown[]) => Promise<unknown>) | undefined;
    if (call === undefined) return { error: 'there is no such method' };
    return { result: await call(...args) };
  }

  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const body = await answer(request).catch(
      (error: unknown): DriverResponse => ({ error: error instanceof Error ? error.message : String(error) }),
    );
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    environment: { [DRIVER_ADDRESS]: `http://127.0.0.1:${port}/`, [DRIVER_TOKEN]: token },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
