/** What a test inside VS Code may ask of the driver outside, which sees the window as a person does. */

export interface TreeRow {
  label: string;
  description: string;
  /** Counted from 1. */
  depth: number;
  /** Absent where there is nothing to expand. */
  expanded?: boolean;
}

export interface StatusBarItem {
  text: string;
  /** What a screen reader says. */
  label: string;
}

export interface DriverMethods {
  /** Prints a line to the run's output. */
  log(line: string): void;
  /** Takes a picture of the window into `.out/screenshots/` and returns its path. */
  screenshot(name: string): string;
  /** The same for a document: without the title bar, which calls the window one of an extension's development. */
  picture(name: string): string;
  /** The rows of a tree view that are in sight. `view` is its title, as in its header. */
  rows(view: string): TreeRow[];
  expand(view: string, label: string): void;
  /** Clicks a row of a tree view. */
  clickRow(view: string, label: string): void;
  /** Clicks a button in a row of a tree view, which shows while the pointer is on it. */
  clickRowAction(view: string, label: string, action: string): void;
  /** Chooses from the context menu of a row. */
  chooseFromRowMenu(view: string, label: string, item: string): void;
  /** Clicks what a Playwright selector finds first: CSS, or `text=…`. */
  click(selector: string): void;
  /** Waits until a Playwright selector finds something in sight. */
  waitFor(selector: string): void;
  press(key: string): void;
  /** Types into what has the focus. */
  type(text: string): void;
  /** The text of each element in sight that a Playwright selector finds. */
  texts(selector: string): string[];
  /** The texts of the pages that VS Code has opened in the browser. Those of a desktop's own browser are out of sight. */
  browserPages(): string[];
  closeBrowserPages(): void;
  /** Under which names VS Code's own store keeps secrets for an extension; undefined where it is out of sight. */
  secretNames(extension: string): string[] | undefined;
  statusBar(): StatusBarItem[];
  /** What VS Code has to tell, newest first. */
  notifications(): string[];
  /** The text of the webview in sight. */
  frameText(): string;
  frameHtml(): string;
  clickInFrame(selector: string): void;
}

export type DriverMethod = keyof DriverMethods;

export interface DriverRequest {
  method: DriverMethod;
  args: unknown[];
}

export type DriverResponse = { result: unknown } | { error: string };

/** Where the driver listens and the token it asks for: how the tests inside VS Code find it. */
export const DRIVER_ADDRESS = 'WAYGATE_DRIVER_ADDRESS';
export const DRIVER_TOKEN = 'WAYGATE_DRIVER_TOKEN';
/** The file for the results of the tests. */
export const REPORT_FILE = 'WAYGATE_TEST_REPORT';

export interface TestOutcome {
  title: string;
  state: 'passed' | 'failed' | 'skipped';
  durationMs: number;
  error?: string;
}

/** What the report's file holds. */
export interface SuiteReport {
  /** Whether the suite came to its end; a host that dies in the middle ends without a word. */
  complete: boolean;
  passed: number;
  failed: number;
  skipped: number;
  tests: TestOutcome[];
}
