import type { Grant } from '../../../src/records/embedded/contract/visible.ts';
import type { StreamDeclaration } from '../../../src/records/embedded/store/declaration.ts';
import type { RecordStore } from '../../../src/records/embedded/store/recordStore.ts';
import { RecordWriter } from '../../../src/records/embedded/store/recordWriter.ts';

/** Invented mail of the recorded cases: two mail connections with the same streams, and a chat. */
const MESSAGES: StreamDeclaration = {
  name: 'messages',
  semantics: 'mutable_state',
  primaryKey: 'id',
  timeField: 'sent_at',
  fields: {
    id: { type: 'string' },
    subject: { type: 'string', lexical: true },
    from_email: { type: 'string', lexical: true, groupBy: true, distinct: true },
    body: { type: 'string', lexical: true },
    size_bytes: { type: 'integer' },
    is_seen: { type: 'boolean', groupBy: true },
    labels: { type: 'array' },
    thread_id: { type: 'string', distinct: true },
    sent_at: { type: 'date-time' },
  },
  views: [{ id: 'envelope', label: 'Envelope only', fields: ['id', 'subject', 'from_email', 'sent_at'] }],
  relations: [
    {
      name: 'attachments',
      stream: 'attachments',
      cardinality: 'has_many',
      foreignKey: 'message_id',
      defaultLimit: 10,
      maxLimit: 50,
    },
  ],
};

const ATTACHMENTS: StreamDeclaration = {
  name: 'attachments',
  semantics: 'append_only',
  primaryKey: 'id',
  timeField: 'created_at',
  fields: {
    id: { type: 'string' },
    message_id: { type: 'string' },
    filename: { type: 'string', lexical: true },
    created_at: { type: 'date-time', exactOnly: true },
    blob_ref: { type: 'object' },
  },
};

const CHANNELS: StreamDeclaration = {
  name: 'channels',
  semantics: 'mutable_state',
  primaryKey: 'id',
  fields: { id: { type: 'string' }, name: { type: 'string', lexical: true } },
};

const EMITTED = '2026-05-01T00:00:00.000Z';
const TEXT = 'Lorem ipsum dolor sit amet. ';

function message(place: 'work' | 'home', i: number): Record<string, unknown> {
  const word = place === 'work' ? 'Work' : 'Home';
  const isInvoice = i % 4 === 1;
  const day = String(((i - 1) % 28) + 1).padStart(2, '0');
  const hour = String(8 + ((i - 1) % 10)).padStart(2, '0');
  return {
    id: `${place[0]}${i}`,
    subject: isInvoice ? `Quarterly invoice ${i}` : `${word} note ${i}`,
    from_email: `${['ana', 'bo', 'cy'][(i - 1) % 3]}@example.com`,
    body: `${word} message body number ${i}. ${isInvoice ? 'The invoice total is attached. ' : ''}${TEXT.repeat((i - 1) % 5)}`,
    size_bytes: 1000 + 37 * (i - 1),
    is_seen: i % 2 === 1,
    labels: ['inbox', place],
    thread_id: `t${(i - 1) % 7}`,
    sent_at: `2026-04-${day}T${hour}:00:00.000Z`,
  };
}

function duplicate(place: 'work' | 'home'): Record<string, unknown> {
  const isWork = place === 'work';
  return {
    id: 'dup1',
    subject: `Shared id from ${place}`,
    from_email: isWork ? 'ana@example.com' : 'bo@example.com',
    body: `duplicate key in ${place}`,
    size_bytes: isWork ? 5 : 6,
    is_seen: isWork,
    labels: [],
    thread_id: 't9',
    sent_at: isWork ? '2026-04-29T09:00:00.000Z' : '2026-04-30T09:00:00.000Z',
  };
}

/** Loads the data that the resource servers of the recordings had. */
export function loadDemoMail(store: RecordStore): void {
  const mail = [MESSAGES, ATTACHMENTS];
  store.declare({ id: 'cin_mail_work', connectorKey: 'demo-mail', displayName: 'Work mail' }, mail);
  store.declare({ id: 'cin_mail_home', connectorKey: 'demo-mail', displayName: 'Home mail' }, mail);
  store.declare({ id: 'cin_chat_team', connectorKey: 'demo-chat', displayName: 'Team chat' }, [CHANNELS]);
  for (const [place, messages] of [
    ['work', 40],
    ['home', 12],
  ] as const) {
    const writer = new RecordWriter(store, `cin_mail_${place}`);
    for (let i = 1; i <= messages; i += 1) put(writer, 'messages', message(place, i));
    put(writer, 'messages', duplicate(place));
    if (place === 'work') {
      for (let i = 1; i <= 5; i += 1) {
        const created = `2026-04-0${i}T09:00:00.000Z`;
        const parent = i === 5 ? 'w5' : 'w1';
        put(writer, 'attachments', {
          id: `a${i}`,
          message_id: parent,
          filename: `invoice-${i}.txt`,
          created_at: created,
        });
      }
    }
    writer.commit();
  }
  const chat = new RecordWriter(store, 'cin_chat_team');
  for (const name of ['general', 'random']) put(chat, 'channels', { id: name, name });
  chat.commit();
}

function put(writer: RecordWriter, stream: string, data: Record<string, unknown>): void {
  writer.put(stream, { key: String(data.id), data, emittedAt: EMITTED });
}

/** Removes a message, as its owner would. */
export function removeMessage(store: RecordStore, id: string): void {
  const writer = new RecordWriter(store, 'cin_mail_home');
  writer.delete('messages', id);
  writer.commit();
}

const MAIL_IDS = ['cin_mail_home', 'cin_mail_work'];

/** Grants by the role that the cases name. */
export const ROLES: Readonly<Record<string, readonly Grant[]>> = {
  client: MAIL_IDS.map((connection) => ({ id: `grt_${connection}`, connection, streams: 'all' })),
  narrow: MAIL_IDS.map((connection) => ({
    id: `grt_${connection}`,
    connection,
    streams: [{ name: 'messages', fields: ['subject'] }],
  })),
  chat: [{ id: 'grt_chat', connection: 'cin_chat_team', streams: 'all' }],
};
