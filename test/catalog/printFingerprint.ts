/** Run in a child process of another locale. */
import { fingerprintOfRoom } from './roomFingerprint.ts';

console.log(fingerprintOfRoom(1));
