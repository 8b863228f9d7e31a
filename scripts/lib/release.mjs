import { SetupError } from './setupError.mjs';

/**
 * Returns the version to release.
 * @param {string} current version in package.json
 * @param {string} wanted `patch`, `minor`, `major` or a version, which may be the current one: a first release
 */
export function nextVersion(current, wanted) {
  const [major = 0, minor = 0, patch = 0] = numbersOf(current);
  if (wanted === 'major') return `${major + 1}.0.0`;
  if (wanted === 'minor') return `${major}.${minor + 1}.0`;
  if (wanted === 'patch') return `${major}.${minor}.${patch + 1}`;
  const [first = 0, second = 0, third = 0] = numbersOf(wanted);
  const isOlder = first - major || second - minor || third - patch;
  if (isOlder < 0) throw new SetupError(`${wanted} is older than the current version ${current}.`);
  return wanted;
}

/** @param {string} version */
function numbersOf(version) {
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version))
    throw new SetupError(`"${version}" is not a version: name patch, minor, major or X.Y.Z.`);
  return version.split('.').map(Number);
}

/**
 * Turns the section `[Unreleased]` of the changelog into that of a release, below a new empty one.
 * @param {string} changelog
 * @param {string} version
 * @param {string} date YYYY-MM-DD
 * @returns {{ changelog: string, notes: string }} the changelog with the release, and the text of the release alone
 */
export function releaseChangelog(changelog, version, date) {
  if (changelog.includes(`\n## [${version}]`)) throw new SetupError(`CHANGELOG.md has a section [${version}] already.`);
  const [before, after] = changelog.split('\n## [Unreleased]\n');
  if (before === undefined || after === undefined)
    throw new SetupError('CHANGELOG.md has no section "## [Unreleased]".');
  const [notes = ''] = after.split('\n## [');
  if (notes.trim() === '') throw new SetupError('CHANGELOG.md has nothing under [Unreleased]: describe the release.');
  return {
    changelog: `${before}\n## [Unreleased]\n\n## [${version}] - ${date}\n${after}`,
    notes: notes.trim(),
  };
}

/**
 * Sets the version in package.json or package-lock.json.
 * @param {string} text
 * @param {string} version
 */
export function withVersion(text, version) {
  const json = JSON.parse(text);
  json.version = version;
  // The lock file repeats it for the root package.
  if (json.packages?.['']) json.packages[''].version = version;
  return `${JSON.stringify(json, null, 2)}\n`;
}
