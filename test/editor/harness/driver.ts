import {
  DRIVER_ADDRESS,
  DRIVER_TOKEN,
  type DriverMethod,
  type DriverMethods,
  type DriverResponse,
} from './driverProtocol.ts';

type Driver = {
  [M in DriverMethod]: (...args: Parameters<DriverMethods[M]>) => Promise<ReturnType<DriverMethods[M]>>;
};

function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: these tests run by "npm test -- --only editor".`);
  return value;
}

async function ask(method: DriverMethod, args: unknown[]): Promise<unknown> {
  const answer = await fetch(environment(DRIVER_ADDRESS), {
    method: 'POST',
    headers: { authorization: `Bearer ${environment(DRIVER_TOKEN)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ method, args }),
  });
  const body = (await answer.json()) as DriverResponse;
  if ('error' in body) throw new Error(`driver.${method}: ${body.error}`);
  return body.result;
}

/** Driver of the window, for the tests inside VS Code. */
export const driver = new Proxy({} as Driver, {
  get:
    (_, method: DriverMethod) =>
    (...args: unknown[]) =>
      ask(method, args),
});

/** Repeats a query until the answer is accepted; the error names the last answer. */
export async function eventually<T>(
  what: string,
  look: () => T | PromiseLike<T>,
  willDo: (seen: T) => boolean = Boolean,
  limitMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const seen = await look();
    if (willDo(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`Waited ${limitMs} ms for ${what}; seen last: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
