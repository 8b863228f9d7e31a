import { type Fault, faultOf } from '../../errors/fault.ts';
import type { KnownFaultCode } from '../../errors/faultCodes.ts';

/** A fault of a session's worker, by the generation of that; before there is any it is the first one's. */
export function faultAt(generation: number, code: KnownFaultCode, detail: string): Fault {
  return faultOf(code, { generation: Math.max(1, generation), detail }, (text) => text);
}
