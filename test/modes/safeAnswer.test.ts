import { afterEach, describe, expect, it } from 'vitest';
import { safeAnswer } from '../../src/modes/shared/client/safeAnswer.ts';
import { knownSecrets, SECRET_MASK } from '../../src/secrets/mask.ts';

const SECRET = 'Zq7-vault-Kd32';

afterEach(() => knownSecrets.learn('one', []));

describe('an answer for a client', () => {
  it('completes an argument with no secret that a server was given, and with nothing hidden', () => {
    knownSecrets.learn('one', [SECRET]);
    const answer = safeAnswer({ completion: { values: [`a ${SECRET}`, 'b\u202e'], total: 2 } }, '/w');
    expect(answer).toEqual({ completion: { values: [`a ${SECRET_MASK}`, 'b\\u202e'], total: 2 } });
  });

  it('has no link with hidden characters in its words, or with an icon that runs something', () => {
    const link = { type: 'resource_link', uri: 'note://a', name: 'a\u200b', description: 'b\u001b[2J', size: 3 };
    const icons = [{ src: 'command:x' }, { src: 'https://a.test/i' }];
    expect(safeAnswer({ content: [{ ...link, icons }] }, '/w')).toEqual({
      content: [{ ...link, name: 'a\\u200b', description: 'b\\u001b[2J', icons: [{ src: 'https://a.test/i' }] }],
    });
  });
});
