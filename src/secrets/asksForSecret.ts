import { once } from '../lib/once.ts';
import { withLatinLetters } from '../text/lookAlikes.ts';

/**
 * Words for a secret in the languages of the editor's users. MCP forbids servers to ask for passwords, keys, tokens and
 * payment data by form. A long word counts within other words too, and with separators in it.
 */
const LONG_WORDS =
  'password passwort passwd passphrase passcode passkey kennwort losungswort paroladordine motdepasse codesecret contrasena contrasinal palavrapasse wachtwoord losenord adgangskode passord salasana jelszo contrasenya lozinka heslo hasło matkhau katasandi apikey apischlussel accesskey accesstoken authtoken bearertoken refreshtoken privatekey privaterschlussel zugangsdaten zugriffsschlussel anmeldedaten geheimnis geheimzahl secretkey secretaccess clientsecret claveprivada clavesecreta clavedeacceso claveapi cleapi cleprivee cleprive clesecrete cledacces jetondacces chaveprivada chavesecreta chavedeacesso chaveapi chiaveprivata chiavesegreta chiaveapi seedphrase recoveryphrase recoverycode recoverykey recoverywords seedwords walletkey sshkey securityanswer socialsecurity maidenname connectionstring sessioncookie authenticatorcode backupcode smscode logincode cardno mnemonicphrase verificationcode securitycode onetimecode codedeverification codigodeverificacion codigodeverificacao bestatigungscode cardnumber creditcard kreditkarte cartebancaire tarjetadecredito cartaodecredito cartadicredito пароль парольнаяфраза секретныйключ κωδικοςπροσβασης συνθηματικο סיסמה كلمةالمرور كلمةالسر كلمهالمرور كلمهالسر पासवर्ड รหัสผ่าน 密码 密碼 口令 密钥 密鑰 令牌 凭证 憑證 验证码 驗證碼 秘钥 パスワード パスフレーズ 暗証番号 合言葉 秘密鍵 認証コード アクセストークン 비밀번호 암호 비밀키 인증번호 액세스토큰';
/** Words that other words contain. */
const SHORT_WORDS =
  'pw pwd pin otp totp mfa 2fa tan cvv cvc cvv2 cvc2 ssn iban kubeconfig idrsa jwt pat token secret secrets credential credentials jeton secreto secreta segredo segreto senha clave contrasena parola haslo sifre parol sandi geheim credenciales credenciais credenziali identifiants секрет токен пин';

/** Digits and signs that stand for letters, and small letters whose capitals look like Latin ones, and letters with a stroke. */
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  ['вb', 'нh', 'łl', 'øo', 'đd', '0o', '1i', '3e', '4a', '5s', '$s', '@a'].map((pair) => [...pair] as [string, string]),
);

const long = once(() => LONG_WORDS.split(' ').map(lettersOf));
const short = once(() => new Set(SHORT_WORDS.split(' ').map(lettersOf)));

/** Spanish and Italian for a search term. */
const KEYWORD = /(?:palabras?|parol[ae])[\s_-]*(?:clave|chiave)/gi;

/** Returns whether words of a form, in any common language and spelling, ask for a secret. */
export function asksForSecret(text: string): boolean {
  const letters = lettersOf(text.replace(KEYWORD, ''));
  if (long().some((word) => letters.includes(word))) return true;
  const apart = text.replace(KEYWORD, '').replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  return apart.split(/[^\p{L}\p{M}\p{N}\p{Cf}$@]+/u).some((word) => short().has(lettersOf(word)));
}

/** Removes accents, hidden characters and separators, and replaces look-alikes. */
function lettersOf(text: string): string {
  const plain = withLatinLetters(text.normalize('NFKD').toLowerCase());
  return plain.replace(/[^\p{L}\p{N}$@]/gu, '').replace(/./gu, (letter) => LOOK_ALIKES[letter] ?? letter);
}
