import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { nextVersion, releaseChangelog, withVersion } from '../../scripts/lib/release.mjs';

describe('version of a release', () => {
  it.each([
    ['patch', '1.2.4'],
    ['minor', '1.3.0'],
    ['major', '2.0.0'],
    ['1.10.0', '1.10.0'],
    ['1.2.3', '1.2.3'],
  ])('%s after 1.2.3 is %s', (wanted, version) => expect(nextVersion('1.2.3', wanted)).toBe(version));

  it.each([
    ['1.2.2', '1.2.2 is older than the current version 1.2.3.'],
    ['v2', '"v2" is not a version: name patch, minor, major or X.Y.Z.'],
    ['2.0.0-rc.1', '"2.0.0-rc.1" is not a version: name patch, minor, major or X.Y.Z.'],
  ])('%s is refused', (wanted, message) => expect(() => nextVersion('1.2.3', wanted)).toThrow(message));
});

describe('changelog of a release', () => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n- New: a door.\n\n## [0.1.0] - 2026-01-02\n\n- First.\n';

  it('dates the unreleased section, below a new empty section', () => {
    expect(releaseChangelog(changelog, '0.2.0', '2026-11-19')).toEqual({
      changelog:
        '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-19\n\n- New: a door.\n\n## [0.1.0] - 2026-01-02\n\n- First.\n',
      notes: '- New: a door.',
    });
  });

  it('is refused without a description, without the section, and for a released version', () => {
    const released = releaseChangelog(changelog, '0.2.0', '2026-11-19').changelog;
    expect(() => releaseChangelog(released, '0.3.0', '2026-11-20')).toThrow('nothing under [Unreleased]');
    expect(() => releaseChangelog('# Changelog\n', '0.3.0', '2026-11-20')).toThrow('no section "## [Unreleased]"');
    expect(() => releaseChangelog(changelog, '0.1.0', '2026-11-20')).toThrow('has a section [0.1.0] already');
  });

  it('can be made from the one in the repository', () => {
    const { notes } = releaseChangelog(readFileSync('CHANGELOG.md', 'utf8'), '999.0.0', '2026-11-19');
    expect(notes).toMatch(/^- /m);
  });
});

test.each(['package.json', 'package-lock.json'])('a release changes only the version in %s', (file) => {
  const text = readFileSync(file, 'utf8');
  const { version } = JSON.parse(text);
  expect(withVersion(text, version)).toBe(text);
  const json = JSON.parse(withVersion(text, '9.9.9'));
  expect([json.version, json.packages?.['']?.version ?? '9.9.9']).toEqual(['9.9.9', '9.9.9']);
});
