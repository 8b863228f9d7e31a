import { describe, expect, it } from 'vitest';
import { plural, singular, splitWords, topicOf } from '../../src/catalog/topic.ts';

describe('words of a name', () => {
  it.each([
    ['create_issue', 'create issue'],
    ['getPullRequestFiles', 'get pull request files'],
    ['API-post-page', 'api post page'],
    ['TwilioApiV2010--CreateMessage', 'twilio api v2010 create message'],
    ['listHTTPRoutes', 'list http routes'],
    ['getOAuthGrants', 'get oauth grants'],
    ['issues.list', 'issues list'],
    ['検索_実行', '検索 実行'],
  ])('%s', (name, words) => {
    expect(splitWords(name).join(' ')).toBe(words);
  });
});

describe('topic of a name', () => {
  const skipped = new Set(['linear', 'browser']);
  it.each([
    ['create_issue', 'create', ['issue'], []],
    ['list_pull_request_files', 'list', ['pull-request', 'file'], []],
    ['merge_merge_request', 'merge', ['merge-request'], []],
    ['add_issue_to_cycle', 'add', ['issue'], ['cycle']],
    ['create_or_update_file', 'create', ['file'], []],
    ['linear_getProjectById', 'get', ['project'], []],
    ['droplet-create', 'create', ['droplet'], []],
    ['db-cluster-list-users', 'list', ['db', 'cluster', 'user'], []],
    ['list_received_email_attachments', 'list', ['received-email', 'attachment'], []],
    ['create_incoming_phone_number_local', 'create', ['incoming-phone-number', 'local'], []],
    ['create-api-key', 'create', ['api-key'], []],
    ['batch-remove-suppressions', 'remove', ['suppression'], []],
    ['replace_in_document', 'replace', ['document'], []],
    ['get_all_my_issues', 'get', ['issue'], []],
    ['create_project_update', 'create', ['project', 'update'], []],
    ['browser_click', '', ['click'], []],
    ['linear', '', ['linear'], []],
  ])('%s', (name, verb, nouns, related) => {
    expect(topicOf(splitWords(name), skipped)).toEqual({ verb, nouns, related });
  });
});

describe('nouns', () => {
  it.each([
    ['issue', 'issues'],
    ['branch', 'branches'],
    ['repository', 'repositories'],
    ['address', 'addresses'],
    ['pull-request', 'pull-requests'],
    ['tag', 'tags'],
    ['box', 'boxes'],
    ['survey', 'surveys'],
  ])('%s, %s', (one, many) => {
    expect(plural(one)).toBe(many);
    expect(singular(many)).toBe(one);
  });

  it.each(['analytics', 'lwc', 'sdk', 'kv', 'media', 'usage', 'r2'])('%s has no plural', (noun) => {
    expect(plural(noun)).toBe(noun);
  });
});
