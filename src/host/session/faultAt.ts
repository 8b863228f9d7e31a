import { type Fault, faultOf } from '../../errors/fault.ts';
import type { KnownFaultCode } from '../../errors/faultCodes.ts';

/** Makes a worker fault for a generation. Before the first worker, the generation is 1. */
export function faultAt(generation: number, code: KnownFaultCode, detail: string): Fault {
  return faultOf(code, { generation: Math.max(1, generation), detail }, (text) => text);
}
