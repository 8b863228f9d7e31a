/** Addresses of the documents of the file system `waygate:`. The authority is the name of the folder's gateway. */

export interface DocumentPlace {
  scheme: 'waygate';
  authority: string;
  path: string;
}

export type CallPart = 'request.json' | 'answer.txt' | 'fault.md' | 'attempts.md';

/** Worker and call: the ids of calls start again with each worker, whose process id is the run. */
export interface CallKey {
  run: number;
  id: number;
}

/** Place where a document begins in its result: a byte, or the last part. Absent for the whole result or its head. */
export type ResultStart = number | 'last';

export interface ResultName {
  handle: string;
  extension: string;
  start?: ResultStart;
}

export function place(gateway: string, ...segments: readonly string[]): DocumentPlace {
  return { scheme: 'waygate', authority: gateway, path: `/${segments.map(segment).join('/')}` };
}

export function callPlace(gateway: string, { run, id }: CallKey, part: CallPart): DocumentPlace {
  return place(gateway, 'calls', `${run}-${id}`, part);
}

export function resultPlace(gateway: string, { handle, extension, start }: ResultName): DocumentPlace {
  return place(gateway, 'results', `${handle}${start === undefined ? '' : `@${start}`}.${extension}`);
}

/** Returns the address of a tool's definition, or of the one before. */
export function toolPlace(gateway: string, toolId: string, version?: 'before'): DocumentPlace {
  const [, namespace = '', name = ''] = /^([^:]*):(.*)$/s.exec(toolId) ?? [];
  return place(gateway, 'tools', namespace, `${name}${version ? `.${version}` : ''}.json`);
}

export function logPlace(gateway: string, server: string): DocumentPlace {
  return place(gateway, 'logs', `${server}.log`);
}

/** Returns the address of the explanation of a query, or of the place of a tool in its hits. */
export function rankedPlace(gateway: string, query: string, toolId?: string): DocumentPlace {
  return place(gateway, 'ranked', ...(toolId === undefined ? [] : [toolId]), `${query}.md`);
}

/** Returns the address of a recorded session, or of what it says about a question. */
export function sessionPlace(gateway: string, file: string, question?: string): DocumentPlace {
  return place(gateway, 'sessions', ...(question === undefined ? [] : [question]), `${file}.md`);
}

/** Returns the segments of a path as they were given to `place`. */
export function segmentsOf(path: string): string[] {
  return path
    .split('/')
    .filter((part) => part !== '')
    .map((part) => part.replace(/%(25|2F|5C|2E)/g, (escaped) => decodeURIComponent(escaped)));
}

export function callKeyOf(name: string): CallKey | undefined {
  const [, run, id] = /^(\d+)-(\d+)$/.exec(name) ?? [];
  return run === undefined || id === undefined ? undefined : { run: Number(run), id: Number(id) };
}

/** Reads a file name of `/results`. A handle ends in hexadecimal digits, so `@` at its end begins the part. */
export function resultNameOf(name: string): ResultName | undefined {
  const [, handle, start, extension] = /^(.+?)(?:@(\d+|last))?\.(\w+)$/s.exec(name) ?? [];
  if (handle === undefined || extension === undefined) return undefined;
  if (start === undefined) return { handle, extension };
  return { handle, extension, start: start === 'last' ? start : Number(start) };
}

/** Escapes what would end a segment or be a folder above. Other characters stay readable. */
function segment(text: string): string {
  const escaped = text.replace(/[%/\\]/g, (found) => encodeURIComponent(found).toUpperCase());
  return /^\.+$/.test(escaped) ? escaped.replaceAll('.', '%2E') : escaped;
}
