// Stands in for `@vscode/fs-copyfile` in the VS Code server build, whose Git extension loads it. The real module is C++
// without prebuilt parts, and only adds copy-on-write on macOS.

export { copyFile, cp } from 'node:fs/promises';
