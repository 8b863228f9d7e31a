import { afterEach, beforeAll, describe } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import { approvalStates } from './approvalStates.ts';
import { callStates } from './callStates.ts';
import { fileStates } from './fileStates.ts';
import { otherWindows } from './otherWindows.ts';
import { pageStates } from './pageStates.ts';
import { questionStates } from './questionStates.ts';
import { recordStates } from './recordStates.ts';
import { running } from './shopServers.ts';
import { toolStates } from './toolStates.ts';
import { openTour, tourWorkspace } from './tour.ts';

const RATE_LIMITS = { tool_browse: { maxCallsPerMinute: 4 }, tool_execute: { maxCallsPerMinute: 40 } };

/** Every state of every view, in an ordinary window with the installed extension: `npm run pictures`. */
describe('one window', () => {
  const opened = shared(async () => {
    const tour = await openTour(tourWorkspace(running, { rateLimits: RATE_LIMITS }));
    await tour.openViews();
    return tour;
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await opened().window.screenshot(`failed-${task.name}`);
  });
  approvalStates(opened);
  describe('with approved servers', () => {
    beforeAll(() => opened().approved());
    toolStates(opened);
    pageStates(opened);
    callStates(opened);
    questionStates(opened);
    recordStates(opened);
    fileStates(opened);
  });
});

describe('other windows', () => otherWindows());
