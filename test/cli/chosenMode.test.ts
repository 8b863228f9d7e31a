import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { chosenMode } from '../../src/cli/chosenMode.ts';
import { testWorkspace } from '../support/workspace.ts';

it.each([
  ['{"mode": "transparent"}', '{"mode": "passthrough"}', 'transparent'],
  ['{"mode": "gatway"}', '{"mode": "passthrough"}', 'gateway'],
  ['{"mode": "passthrough"}', '{"mode": "gateway"}', 'gateway'],
  ['{"mode": "passthrough"}', '{}', 'passthrough'],
  ['{}', '{"mode": "passthrough"}', 'passthrough'],
  ['{}', '{}', 'gateway'],
])('lets no workspace choose passthrough over another mode of the user: %s, then %s', (own, theirs, mode) => {
  const workspace = testWorkspace();
  const before = process.env.WAYGATE_CONFIG_DIR;
  process.env.WAYGATE_CONFIG_DIR = workspace.env.WAYGATE_CONFIG_DIR;
  onTestFinished(() => {
    if (before === undefined) delete process.env.WAYGATE_CONFIG_DIR;
    else process.env.WAYGATE_CONFIG_DIR = before;
  });
  writeFileSync(workspace.userConfigFile, own);
  writeFileSync(workspace.configFile, theirs);
  expect(chosenMode({ workspace: workspace.folder })).toBe(mode);
});
