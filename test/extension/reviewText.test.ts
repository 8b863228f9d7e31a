import { describe, expect, it } from 'vitest';
import type { ServerScan, TrustItem, TrustReview } from '../../src/control/trustContract.ts';
import {
  approvedDocument,
  forgottenDocument,
  presentDocument,
  quarantineDocument,
  reviewable,
  reviewState,
  reviewTitle,
} from '../../src/extension/trust/reviewText.ts';

const CHANGED: TrustItem = {
  ...{ key: 'tools:send', part: 'tools', name: 'send', state: 'changed', pin: 'abc', held: true },
  ...{ kinds: ['breaking'], notes: ['the argument "to" is new'] },
  ...{ before: 'description: Sends.\n', after: 'description:\n  Sends.\n  Finding: none\n' },
};
const review = (items: TrustItem[], over: Partial<TrustReview> = {}): TrustReview => ({
  ...{ server: 'mail', origin: 'workspace', onChange: 'block', approved: [], items },
  ...over,
});
const SCAN: ServerScan = {
  server: 'mail',
  scanned: 2,
  entries: [
    {
      kind: 'tool',
      name: 'send',
      findings: [{ rule: 'D2', tier: 'hard', where: '/description', quote: 'do not\u202e mention' }],
    },
    { kind: 'prompt', name: 'send', findings: [{ rule: 'D5', tier: 'soft', where: '', quote: 'assistant' }] },
  ],
};
const shown = { server: 'mail', key: 'tools:send', pin: 'abc' };

describe('documents of a review', () => {
  it('quote the findings of the item above its text, and indent every foreign line', () => {
    const { text, actions } = presentDocument(CHANGED, SCAN, 'shown');
    expect(text).toBe(
      [
        'Note: the argument "to" is new.',
        'Finding: keeps something from the user (hard) at /description: "do not\\u202e mention"',
        '',
        '  description:',
        '    Sends.',
        '    Finding: none',
        '',
      ].join('\n'),
    );
    expect(actions).toEqual(['accept', 'block']);
    expect(approvedDocument(CHANGED)).toBe('  description: Sends.\n');
    expect(reviewTitle({ ...CHANGED, name: 'se\nnd' })).toBe('se nd: approved ↔ now');
  });

  it('keep the white space at the end of an item, which is a difference', () => {
    const { text } = presentDocument({ ...CHANGED, notes: [], after: 'name: send  \n' }, undefined, 'shown');
    expect(text).toBe('  name: send  \n');
  });

  it('have an empty left side for a new item, and admit that an approved text is lost', () => {
    const { before: _, ...rest } = CHANGED;
    expect(approvedDocument({ ...rest, state: 'new' })).toBe('');
    expect(approvedDocument(rest)).toBe('The approved text is not stored any more.\n');
  });

  it('say first why no pin of the server counts', () => {
    const problem = '/state/pins.json is damaged, so nothing is offered.';
    const [item] = reviewable(review([CHANGED], { problem }));
    const { text } = presentDocument(item ?? CHANGED, undefined, 'shown');
    expect(text.split('\n').slice(0, 2)).toEqual([
      'Note: /state/pins.json is damaged, so nothing is offered.',
      'Note: the argument "to" is new.',
    ]);
  });

  it('of a version that is not listed any more offer nothing but another review', () => {
    expect(forgottenDocument('again')).toEqual({ text: expect.stringContaining('changed again'), actions: ['again'] });
    expect(forgottenDocument('settled')).toEqual({ text: expect.stringContaining('no longer waits'), actions: [] });
  });

  it('offer no Accept for a version that has changed again, or that waits no more', () => {
    expect(reviewState(shown, review([CHANGED]))).toBe('shown');
    expect(reviewState(shown, review([{ ...CHANGED, pin: 'other' }]))).toBe('again');
    expect(reviewState(shown, review([]))).toBe('settled');
    expect(reviewState(shown, undefined)).toBe('settled');
    const again = presentDocument(CHANGED, undefined, 'again');
    expect(again.text).toContain('It has changed again');
    expect(again.actions).toEqual(['again']);
    expect(presentDocument(CHANGED, undefined, 'settled').actions).toEqual([]);
    expect(presentDocument({ ...CHANGED, state: 'blocked' }, undefined, 'shown').actions).toEqual(['accept']);
  });

  it('exist for listed items only', () => {
    const { pin: _, ...gone } = { ...CHANGED, state: 'gone' as const };
    expect(reviewable(review([gone, CHANGED]))).toEqual([CHANGED]);
  });
});

describe('document of a quarantine', () => {
  it('shows the reason and the findings above the release', () => {
    const { text, actions } = quarantineDocument(
      review([], { quarantine: 'tools /x:\nbad\u200b', approved: [{ key: 'prompts:a\nb' }] }),
      SCAN,
    );
    expect(text.split('\n')).toEqual([
      'The server "mail" is in quarantine: no model sees anything of it.',
      'Reason: tools /x: bad\\u200b',
      '',
      'Findings of the scan:',
      '  tool send: keeps something from the user (hard) at /description: "do not\\u202e mention"',
      '  prompt send: addresses the assistant (soft): "assistant"',
      '',
      'A release offers what you approved before:',
      '  prompts:a b',
      '',
    ]);
    expect(actions).toEqual(['release']);
  });

  it('offers no release of a server that is free', () => {
    expect(quarantineDocument(review([]), SCAN).actions).toEqual([]);
  });
});
