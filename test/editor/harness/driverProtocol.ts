/** Requests of a test inside VS Code to the driver outside, which sees the window as a user does. */

export interface TreeRow {
  label: string;
  description: string;
  /** Depth of the row; a root has 1. */
  depth: number;
  /** Absent if the row cannot be expanded. */
  expanded?: boolean;
}

export interface StatusBarItem {
  text: string;
  /** Text for a screen reader. */
  label: string;
}

export interface DriverMethods {
  /** Prints a line to the run's output. */
  log(line: string): void;
  /** Takes a picture of the window into `.out/screenshots/` and returns its path. */
  screenshot(name: string): string;
  /** Takes a picture for a document, without the title bar, which names the window an extension development host. */
  picture(name: string): string;
  /** Returns the visible rows of a tree view. `view` is the title in its header. */
  rows(view: string): TreeRow[];
  expand(view: string, label: string): void;
  /** Clicks a row of a tree view. */
  clickRow(view: string, label: string): void;
  /** Clicks a button in a row of a tree view, which is visible while the pointer is on the row. */
  clickRowAction(view: string, label: string, action: string): void;
  /** Chooses from the context menu of a row. */
  chooseFromRowMenu(view: string, label: string, item: string): void;
  /** Clicks the first match of a Playwright selector: CSS, or `text=…`. */
  click(selector: string): void;
  /** Puts the pointer on the first match of a Playwright selector. */
  hover(selector: string): void;
  /** Waits until a Playwright selector finds a visible element. */
  waitFor(selector: string): void;
  press(key: string): void;
  /** Types into the focused element. */
  type(text: string): void;
  /** Returns the text of each visible element that a Playwright selector finds. */
  texts(selector: string): string[];
  /**
   * Returns the texts of the pages that VS Code has opened in the browser. A desktop's own browser is not accessible.
   */
  browserPages(): string[];
  closeBrowserPages(): void;
  /** Returns the names of an extension's secrets in VS Code's store; undefined if the store is not accessible. */
  secretNames(extension: string): string[] | undefined;
  statusBar(): StatusBarItem[];
  /** Returns VS Code's notifications, newest first. */
  notifications(): string[];
  /** Returns the text of the visible webview. */
  frameText(): string;
  frameHtml(): string;
  clickInFrame(selector: string): void;
  /** Puts a text into a field of the visible webview, as typing does. */
  fillInFrame(selector: string, text: string): void;
  /** Returns the violations that axe finds in the visible webview. */
  axeInFrame(): string[];
}

export type DriverMethod = keyof DriverMethods;

export interface DriverRequest {
  method: DriverMethod;
  args: unknown[];
}

export type DriverResponse = { result: unknown } | { error: string };

/** Environment variables with the driver's address and token. */
export const DRIVER_ADDRESS = 'WAYGATE_DRIVER_ADDRESS';
export const DRIVER_TOKEN = 'WAYGATE_DRIVER_TOKEN';
/** File for the results of the tests. */
export const REPORT_FILE = 'WAYGATE_TEST_REPORT';

export interface TestOutcome {
  title: string;
  state: 'passed' | 'failed' | 'skipped';
  durationMs: number;
  error?: string;
}

/** Content of the report file. */
export interface SuiteReport {
  /** False if the suite did not finish: an extension host that crashes ends silently. */
  complete: boolean;
  passed: number;
  failed: number;
  skipped: number;
  tests: TestOutcome[];
}
