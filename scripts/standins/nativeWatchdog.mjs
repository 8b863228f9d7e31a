// Stands in for `@vscode/native-watchdog` in the VS Code server build: a C++ thread that ends an extension host whose
// parent is gone. The extension host also checks for its parent every second by itself, which is enough here.

export function start() {}
