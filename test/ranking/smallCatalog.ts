import type { CatalogTool } from '../../src/catalog/types.ts';
import type { RankServer } from '../../src/ranking/rankIndex.ts';

/** Tool in short form; omitted fields are empty. */
export interface ToolSketch {
  title?: string;
  description?: string;
  properties?: Readonly<Record<string, unknown>>;
  required?: readonly string[];
  annotations?: Readonly<Record<string, unknown>>;
  tags?: readonly string[];
}

export function makeTool(server: string, name: string, sketch: ToolSketch = {}): CatalogTool {
  return {
    id: `${server}:${name}`,
    namespace: server,
    name,
    server,
    upstreamName: name,
    title: sketch.title ?? '',
    description: sketch.description ?? '',
    tags: sketch.tags ?? [],
    safety: '',
    sideEffects: true,
    costHint: 0,
    inputSchema: {
      type: 'object',
      properties: sketch.properties ?? {},
      ...(sketch.required ? { required: sketch.required } : {}),
    },
    outputSchema: undefined,
    annotations: sketch.annotations ?? {},
    fingerprint: '',
  };
}

/**
 * Parses lines of the form `name: description` with arguments in brackets: `get_issue(issueId, repo): Get one issue.`
 */
function tools(server: string, lines: string): CatalogTool[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [, name = '', names = '', description = ''] = /^\s*([^(:]+)(?:\(([^)]*)\))?:\s*(.*)$/.exec(line) ?? [];
      const properties = Object.fromEntries(
        names.split(',').flatMap((word) => (word.trim() ? [[word.trim(), {}]] : [])),
      );
      return makeTool(server, name, { description, properties });
    });
}

export const SMALL_SERVERS: readonly RankServer[] = [
  {
    name: 'gitforge',
    namespace: 'gitforge',
    instructions: 'Hosts source code repositories, pull requests and issues.',
  },
  { name: 'parcel-post', namespace: 'parcel_post', instructions: 'Sends parcels and tracks their shipment.' },
  { name: 'mailroom', namespace: 'mailroom' },
  { name: 'ledgerBook', namespace: 'ledgerbook', instructions: 'Accounting for small companies.' },
  { name: 'podyard', namespace: 'podyard', instructions: 'Runs containers.' },
  { name: 'docstore', namespace: 'docstore' },
  { name: 'webhand', namespace: 'webhand', instructions: 'Drives a browser.' },
  { name: 'daybook', namespace: 'daybook' },
];

export const SMALL_CATALOG: readonly CatalogTool[] = [
  ...tools(
    'gitforge',
    `create_issue(repo, title, body): Open a new issue in a repository.
     list_issues(repo, state): List the issues of a repository.
     get_issue(repo, number): Get one issue with its labels.
     add_issue_comment(repo, number, body): Add a comment to an issue.
     create_pull_request(repo, head, base, title): Open a pull request from a branch.
     merge_pull_request(repo, number): Merge a pull request into its base branch.
     list_commits(repo, sha): List the commits of a branch.
     create_branch(repo, name, from): Create a branch from a commit.
     search_code(query): Search source code in all repositories.
     fork_repository(repo): Fork a repository to your account.`,
  ),
  ...tools(
    'parcel-post',
    `create_shipment(address, weight): Create a shipment and its label.
     track_shipment(trackingNumber): Tell where a shipment is.
     cancel_shipment(shipmentId): Cancel a shipment before it is picked up.
     list_rates(weight, country): List the postage rates for a parcel.
     validate_address(address): Check that a postal address exists.
     schedule_pickup(date, address): Order a courier to pick up parcels.`,
  ),
  ...tools(
    'mailroom',
    `send_email(to, subject, body): Send an email.
     list_messages(folder): List the messages in a folder.
     read_message(messageId): Read one message.
     search_messages(query): Search the messages of the mailbox.
     delete_message(messageId): Delete a message.
     create_filter(from, action): Create a rule that sorts incoming messages.
     create_draft(to, subject, body): Save a message without sending it.
     add_label(messageId, label): Put a label on a message.`,
  ),
  ...tools(
    'ledgerBook',
    `create_invoice(customer, lines, dueDate): Create an invoice for a customer.
     create_invoice_v2(customer, lines, dueDate): Create an invoice for a customer (version 2).
     list_invoices(status): List invoices by their status.
     void_invoice(invoiceId): Void an invoice that was not paid.
     create_refund(paymentId, amount): Refund a payment.
     list_payments(from, to): List payments of a period.
     get_balance_sheet(date): Get assets and liabilities at a date.
     get_profit_and_loss(from, to): Get income and costs of a period.
     list_customers(): List customers.`,
  ),
  ...tools(
    'podyard',
    `list_containers(all): List containers on this host.
     start_container(id): Start a container that is stopped.
     stop_container(id): Stop a container that runs.
     container_logs(id, tail): Fetch the logs of a container.
     build_image(path, tag): Build an image.
     push_image(tag): Push an image to a registry.
     delete_volume(name): Delete a volume and all its data.
     create_network(name): Create a network between containers.
     scaleService(name, replicas): Set the number of replicas of a service.`,
  ),
  ...tools(
    'docstore',
    `read_file(path): Read a text file.
     write_file(path, content): Write a text file.
     move_file(source, destination): Move a file to another folder.
     list_directory(path): List the entries of a directory.
     search_files(pattern): Find files by a pattern of their name.
     get_file_info(path): Get size and dates of a file.`,
  ),
  ...tools(
    'webhand',
    `navigate_page(url): Open an address in the browser.
     click_element(selector): Click an element of the page.
     fill_field(selector, value): Fill a field of a form.
     take_screenshot(fullPage): Take a picture of the page.
     evaluate_script(script): Run JavaScript in the page.
     resize_window(width, height): Resize the window of the browser.`,
  ),
  ...tools(
    'daybook',
    `create_event(title, start, end, attendees): Create a calendar event.
     update_event(eventId, start, end): Change the time of a calendar event.
     delete_event(eventId): Delete a calendar event.
     list_events(from, to): List the events of a day or a week.
     find_free_time(attendees, duration): Find a time at which everybody is free.
     respond_to_event(eventId, answer): Accept or decline an invitation.`,
  ),
];

/** Realistic queries, each with the tool that serves it. */
export const SMALL_QUERIES: readonly (readonly [query: string, tool: string])[] = [
  ['create an issue in gitforge', 'gitforge:create_issue'],
  ['which issues are open', 'gitforge:list_issues'],
  ['open a PR', 'gitforge:create_pull_request'],
  ['accept the merge request', 'gitforge:merge_pull_request'],
  ['leave a remark on the ticket', 'gitforge:add_issue_comment'],
  ['start a new branch', 'gitforge:create_branch'],
  ['grep the code base', 'gitforge:search_code'],
  ['where is my parcel', 'parcel-post:track_shipment'],
  ['what does it cost to post a package to Norway', 'parcel-post:list_rates'],
  ['does this street exist', 'parcel-post:validate_address'],
  ['have the courier come tomorrow', 'parcel-post:schedule_pickup'],
  ['write to anna@example.org', 'mailroom:send_email'],
  ['throw away this mail', 'mailroom:delete_message'],
  ['find the mail about the contract', 'mailroom:search_messages'],
  ['bill the client', 'ledgerBook:create_invoice'],
  ['give the customer the money back', 'ledgerBook:create_refund'],
  ['did we earn anything this quarter', 'ledgerBook:get_profit_and_loss'],
  ['what did the container print', 'podyard:container_logs'],
  ['run more copies of the service', 'podyard:scaleService'],
  ['shut down the container', 'podyard:stop_container'],
  ['get rid of the volume', 'podyard:delete_volume'],
  ['what is in this folder', 'docstore:list_directory'],
  ['how large is report.pdf', 'docstore:get_file_info'],
  ['show me what the page looks like', 'webhand:take_screenshot'],
  ['go to https://example.org', 'webhand:navigate_page'],
  ['press the button', 'webhand:click_element'],
  ['push the meeting back an hour', 'daybook:update_event'],
  ['when can we all meet', 'daybook:find_free_time'],
  ['say yes to the invitation', 'daybook:respond_to_event'],
  ['what is on my calendar this week', 'daybook:list_events'],
];
