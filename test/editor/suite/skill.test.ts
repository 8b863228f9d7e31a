import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { driver } from '../harness/driver.ts';
import { workspaceFolder } from './gateway.ts';

describe('The skill', () => {
  it('is installed in the chosen folder, and replaces changed files only on request', async () => {
    const skills = join(workspaceFolder(), '.claude', 'skills');
    const file = join(skills, 'mcp-bootstrap', 'SKILL.md');
    mkdirSync(skills, { recursive: true });
    const install = async (): Promise<void> => {
      await driver.waitFor('.quick-input-list .monaco-list-row:has-text(".github/skills")');
      await driver.click('.quick-input-list .monaco-list-row:has-text(".claude/skills")');
    };
    const first = vscode.commands.executeCommand('waygate.installSkill');
    await install();
    await first;
    const original = readFileSync(file, 'utf8');
    assert.match(original, /^---\nname: mcp-bootstrap\n/);
    assert.match(
      readFileSync(join(skills, 'mcp-bootstrap/parts/src/errors/fault.ts'), 'utf8'),
      /^import .*FAULT_CODES/m,
    );
    writeFileSync(file, 'mine\n');
    const second = vscode.commands.executeCommand('waygate.installSkill');
    await install();
    await driver.waitFor('.quick-input-list .monaco-list-row:has-text("Keep Mine")');
    await driver.screenshot('install-skill');
    assert.equal(readFileSync(file, 'utf8'), 'mine\n');
    await driver.click('.quick-input-list .monaco-list-row:has-text("Replace")');
    await second;
    assert.equal(readFileSync(file, 'utf8'), original);
    rmSync(join(workspaceFolder(), '.claude'), { recursive: true });
  });
});
