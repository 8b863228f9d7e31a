import type { Page } from 'playwright-core';
import { atEnd } from '../../support/lifetime.ts';
import type { TestWorkspace } from '../../support/workspace.ts';
import { type OrdinaryWindow, openOrdinaryWindow, type WindowOptions } from '../harness/ordinaryWindow.ts';

interface Options extends Omit<WindowOptions, 'folder' | 'env'> {
  /** Opens no folder. */
  isEmpty?: boolean;
  /** Opens this workspace of several folders. */
  workspaceFile?: string | undefined;
}

/** Opens a window on a workspace until the end of the test. */
export async function openWindow(workspace: TestWorkspace, options: Options = {}): Promise<Page> {
  return (await openWholeWindow(workspace, options)).page;
}

/** Opens a window like `openWindow`, and returns more than its page. */
export async function openWholeWindow(
  { folder, env }: TestWorkspace,
  { isEmpty = false, workspaceFile, ...options }: Options = {},
): Promise<OrdinaryWindow> {
  const window = await openOrdinaryWindow({ ...options, env, ...(!isEmpty && { folder: workspaceFile ?? folder }) });
  atEnd(() => window.close());
  return window;
}
