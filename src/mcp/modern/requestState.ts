import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { once } from '../../lib/once.ts';

/** Content of a `requestState`: the round for which the client collects input. */
export interface RoundState {
  /** Unique, so that each state is used once. */
  nonce: string;
  /** Call that waits for the input, by the session that holds it. */
  call: string;
  /** Identity of the client. */
  principal: string;
  /** Digest of the method and its parameters. */
  subject: string;
  /** Digest of the worker's request for input. */
  question: string;
  /** Methods of the questions, by their keys. */
  asks: Readonly<Record<string, string>>;
  /** The call has not begun, or may be repeated, so a host that does not hold it may run it. */
  mayRepeat: boolean;
  /** Time of the end, in milliseconds since 1970. */
  expires: number;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Bounds the work for a state that is not one. */
const MAX_CHARS = 32_768;

/** Encrypts states, so that a client can neither read nor change them. */
export class StateSeal {
  readonly #key: () => Buffer;

  /** Without a key it makes one at the first use, because loading the cryptography takes a tenth of a host's start. */
  constructor(key?: Buffer) {
    this.#key = once(() => key ?? randomBytes(KEY_BYTES));
  }

  seal(state: RoundState): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key(), iv);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(state), 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Returns the state, or `undefined` if it was not sealed with this key or was changed since. */
  open(text: string): RoundState | undefined {
    if (text.length > MAX_CHARS) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
    try {
      const decipher = createDecipheriv(CIPHER, this.#key(), bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const opened = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
      return JSON.parse(opened.toString('utf8')) as RoundState;
    } catch {
      return undefined;
    }
  }
}
