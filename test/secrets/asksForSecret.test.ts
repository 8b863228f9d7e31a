import { describe, expect, it } from 'vitest';
import { asksForSecret } from '../../src/secrets/asksForSecret.ts';

describe('words of a form', () => {
  it.each([
    ...[
      'Password',
      'your GitHub password…',
      'passwd',
      'user_pw',
      'apiKey',
      'API-Key',
      'access token',
      'OTP',
      'One-time code',
    ],
    ...[
      'Passwort',
      'Kennwort',
      'API-Schlüssel',
      'Mot de passe',
      'clé secrète',
      'Contraseña',
      'clave de acceso',
      'Senha',
    ],
    ...['Palavra-passe', "parola d'ordine", 'Wachtwoord', 'Hasło', 'Lösenord', 'Şifre', 'Пароль', 'Κωδικός πρόσβασης'],
    ...[
      '密码',
      '请输入密碼',
      'パスワード',
      '暗証番号',
      '비밀번호',
      'كلمة المرور',
      'סיסמה',
      'पासवर्ड',
      'mật khẩu',
      'รหัสผ่าน',
    ],
    ...[
      'pаsswоrd',
      'P@ssw0rd',
      'p.a.s.s.w.o.r.d',
      'pass\u00adword',
      'ｐａｓｓｗｏｒｄ',
      'Recovery phrase',
      'CVV',
      'Card number',
    ],
    ...['ᴘᴀꜱꜱᴡᴏʀᴅ', '🅿🅰🆂🆂word', 'seed words', 'SSH key', 'Security answer', 'Connection string', 'CVV2', 'SMS code'],
  ])('ask for a secret: %s', (text) => {
    expect(asksForSecret(text)).toBe(true);
  });

  it.each([
    ...['Name', 'Your e-mail address', 'Why do you need this?', 'Palabras clave', 'parole chiave', 'Pinned message'],
    ...[
      'secretary',
      'Number of tokens',
      'compass',
      'Titel',
      'Описание задачи',
      '説明',
      'keyboard',
      'Spin count',
      'Tango',
    ],
  ])('ask for none: %s', (text) => {
    expect(asksForSecret(text)).toBe(false);
  });
});
