/** Runs in a child process with another locale. */
import { fingerprintOfRoom } from './roomFingerprint.ts';

console.log(fingerprintOfRoom(1));
