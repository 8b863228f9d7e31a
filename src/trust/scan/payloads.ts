import { findLiveSecrets } from '../../secrets/liveSecrets.ts';
import { type Phrase, phrases } from './phrases.ts';

/** Commands that a hidden text runs. */
const COMMAND =
  /\b(?:curl|wget|iwr|iex|irm|invoke-\w+|powershell|pwsh|cmd(?:\.exe)? \/c|bash|zsh|sh -c|\/bin\/(?:ba|z|da)?sh|nc(?:at)? |python\d? -c|perl -e|ruby -e|node -e|os\.system|subprocess|child_process|eval\(|exec\(|rm -rf|chmod \+x|mshta|certutil|osascript|scp |ssh )/i;

const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}/g;
const HEX = /(?<![0-9a-z])(?:[0-9a-f]{2}){10,}(?![0-9a-z])/gi;
const ESCAPES = /(?:\\x[0-9a-f]{2}|%[0-9a-f]{2}|\\u00[0-9a-f]{2}){6,}/gi;
/** A command stands at the beginning of what is decoded. */
const MAX_ENCODED_CHARS = 4_096;

/** Place of a match in a text. */
export interface Found {
  readonly index: number;
  readonly length: number;
}

/** Finds base64, hex and escapes that decode to a command (C1). */
export function* findEncodedCommands(text: string): Generator<Found> {
  for (const { 0: run, index } of text.matchAll(BASE64)) {
    const bytes = Buffer.from(run.slice(0, MAX_ENCODED_CHARS), 'base64');
    if (isCommand(bytes) || isCommand(Buffer.from(bytes.toString('latin1'), 'base64'))) {
      yield { index, length: run.length };
    }
  }
  for (const { 0: run, index } of text.matchAll(HEX)) {
    if (isCommand(Buffer.from(run.slice(0, MAX_ENCODED_CHARS), 'hex'))) yield { index, length: run.length };
  }
  for (const { 0: run, index } of text.matchAll(ESCAPES)) {
    const bytes = run.slice(0, MAX_ENCODED_CHARS).replace(/\\x|%|\\u00/gi, '');
    if (isCommand(Buffer.from(bytes, 'hex'))) yield { index, length: run.length };
  }
}

/** PowerShell encodes UTF-16, which is ASCII with zeros between. */
function isCommand(bytes: Buffer): boolean {
  const text = bytes.toString('latin1').replaceAll('\0', '');
  return COMMAND.test(text) && !/[^\t\n\r\x20-\x7e]/.test(text.slice(0, -2));
}

/** Finds credentials that an issuer could have issued (K1), and no placeholder such as `ghp_xxxx`. */
export function* findCredentials(text: string): Generator<Found> {
  for (const { from, to } of findLiveSecrets(text)) yield { index: from, length: to - from };
}

/** Rules about commands, markup and addresses. */
export const PAYLOADS: readonly Phrase[] = phrases(
  {
    FETCH: '(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|fetch)',
    SHELL: String.raw`(?:(?:ba|z|da|k|fi)?sh|python\d?|perl|ruby|node|iex|invoke-expression|powershell|pwsh)`,
    SEND: '(?:sends?|forward|e?-?mail|transmit|reports?|submit|upload|copy|bcc|cc|post|deliver)',
    ADDRESS: String.raw`(?:https?://(?!localhost|127\.)|[\w.+-]{1,64}@[\w-]{1,63}\.|\d{1,3}\.\d{1,3}\.\d{1,3}\.)`,
  },
  String.raw`
C2 soft \b{FETCH}\b[^\n|]{1,200}\| ?(?:sudo )?(?:/\w+/){0,3}{SHELL}\b
C2 soft \brm (?:-(?:rf|fr|r -f)|--recursive)[ ]
C2 soft \bpython\d? -c ["'][^\n]{0,120}?\b(?:urlopen|exec|os\.system|subprocess)\b|\bcertutil\b[^\n]{0,40}? -urlcache|\bnpx (?:-y |--yes )?https?:|--(?:extra-)?index-url[ =]https?://(?!pypi\.)
C2 soft \b(?:iex|invoke-expression)\b ?[($"']|\.download(?:string|file)\(
C2 soft \b(?:powershell|pwsh)(?:\.exe)?\b~60 -(?:e|en|enc|encodedcommand) [a-z0-9+/=]{16,}
C2 soft \b(?:ba|z)?sh (?:-c )?["']?[<$]\( ?(?:curl|wget)|[$]\((?:curl|wget) |\x60(?:curl|wget) |/dev/tcp/|\beval\(atob\(|\bnc -e |:\(\) ?\{
L1 soft !\[[^\]\n]{0,200}\]\( ?<?(?:https?:)?//(?!example\.)|<img\b[^>\n]{0,200}\bsrc ?= ?["']?(?:https?:)?//
L2 soft <!--[^>]{10,4000}
L3 soft \b{SEND}\b~60\b(?:to|at|an|a|para) {ADDRESS}
L3 soft \b(?:bcc|cc):? {ADDRESS}|\b(?:make|issue|perform|do) an? \w+ request to {ADDRESS}
`,
);
