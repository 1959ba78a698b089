import { stringifyJson } from '../encoding/json.ts';
import type { User } from '../api/user.ts';
import { TimeSlice } from '../util/time-slice.ts';
import { type AuditEvent, type EventStatus, type ObjectReference, bytesOf } from './event.ts';

const EVENT_HEAD = '{"kind":"Event","apiVersion":"audit.k8s.io/v1",';
const LIST_HEAD = '{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[';

/** Longer answers are not made texts of, nor copied: a list may have ten megabytes. */
const LONG_BYTES = 64 * 1024;

/** A line of the log with its end: as text, or in pieces. */
export type LogLine = string | readonly Buffer[];

/** As Go's encoder writes an Event. */
export function encodeEvent(event: AuditEvent): LogLine {
  const { responseObject } = event;
  if (!isLong(responseObject)) return `${EVENT_HEAD}${membersOf(event)}}\n`;
  return [Buffer.from(`${EVENT_HEAD}${membersBefore(event)},"responseObject":`), ...responseObject, Buffer.from(`${membersBehind(event)}}\n`)];
}

const isLong = (object: readonly Buffer[] | undefined): object is readonly Buffer[] => object !== undefined && bytesOf(object) >= LONG_BYTES;

/** The body that webhooks are sent, in pieces, made in slices: hundreds of events may be in it, with answers of ten megabytes. */
export async function encodeEventList(events: readonly AuditEvent[]): Promise<readonly Buffer[]> {
  const slice = new TimeSlice();
  const pieces: Buffer[] = [];
  let text = LIST_HEAD;
  for (const [index, event] of events.entries()) {
    if (index > 0) text += ',';
    const { responseObject } = event;
    if (isLong(responseObject)) {
      pieces.push(Buffer.from(`${text}{${membersBefore(event)},"responseObject":`), ...responseObject);
      text = `${membersBehind(event)}}`;
    } else text += `{${membersOf(event)}}`;
    if (text.length >= LONG_BYTES) {
      pieces.push(Buffer.from(text));
      text = '';
    }
    if (slice.isSpent) await slice.next();
  }
  pieces.push(Buffer.from(`${text}]}\n`));
  return pieces;
}

export function encodedSizeBytes(event: AuditEvent): number {
  const line = encodeEvent(event);
  return typeof line === 'string' ? Buffer.byteLength(line) : bytesOf(line);
}

const membersOf = (event: AuditEvent): string => (event.encoded ??= writeMembers(event));

function writeMembers(event: AuditEvent): string {
  const { responseObject } = event;
  const response = responseObject === undefined ? '' : `,"responseObject":${Buffer.concat(responseObject).toString()}`;
  return membersBefore(event) + response + membersBehind(event);
}

/** In the order of upstream's struct. Written piece by piece, since most of it is the same for all events of a request or a user. */
function membersBefore(event: AuditEvent): string {
  let text = `"level":"${event.level}","auditID":${stringOf(event.auditId)},"stage":"${event.stage}","requestURI":${stringOf(event.requestUri)}`;
  text += `,"verb":${stringOf(event.verb)},"user":${event.user === undefined ? '{}' : userOf(event.user)}`;
  if (event.impersonatedUser !== undefined) text += `,"impersonatedUser":${userOf(event.impersonatedUser)}`;
  if (event.impersonationConstraint !== '') text += `,"authenticationMetadata":{"impersonationConstraint":${stringOf(event.impersonationConstraint)}}`;
  if (event.sourceIps.length > 0) text += `,"sourceIPs":["${event.sourceIps.join('","')}"]`;
  if (event.userAgent !== '') text += `,"userAgent":${stringOf(event.userAgent)}`;
  if (event.objectRef !== undefined) text += `,"objectRef":{${referenceOf(event.objectRef)}}`;
  if (event.responseStatus !== undefined) text += `,"responseStatus":{"metadata":{}${statusOf(event.responseStatus)}}`;
  if (event.requestObject !== undefined) text += `,"requestObject":${event.requestObject}`;
  return text;
}

function membersBehind(event: AuditEvent): string {
  const times = `,"requestReceivedTimestamp":"${event.receivedAt}","stageTimestamp":"${event.stageAt}"`;
  return event.annotations.size > 0 ? `${times},"annotations":{${annotationsOf(event.annotations)}}` : times;
}

/** What JSON writes as it is, and Go's encoder too. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/;
const stringOf = (text: string): string => (PLAIN.test(text) ? `"${text}"` : stringifyJson(text));

const users = new WeakMap<User, string>();

function userOf(user: User): string {
  const known = users.get(user);
  if (known !== undefined) return known;
  const { name, uid, groups, extra } = user;
  const sortedExtra = Object.entries(extra ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const fields: string[] = [];
  if (name !== '') fields.push(`"username":${stringOf(name)}`);
  if (uid) fields.push(`"uid":${stringOf(uid)}`);
  if (groups.length > 0) fields.push(`"groups":[${groups.map(stringOf).join(',')}]`);
  if (sortedExtra.length > 0) fields.push(`"extra":{${sortedExtra.map(([key, values]) => `${stringOf(key)}:[${values.map(stringOf).join(',')}]`).join(',')}}`);
  const text = `{${fields.join(',')}}`;
  users.set(user, text);
  return text;
}

const REFERENCE_FIELDS = ['resource', 'namespace', 'name', 'uid', 'apiGroup', 'apiVersion', 'resourceVersion', 'subresource'] as const;

function referenceOf(reference: ObjectReference): string {
  let text = '';
  for (const field of REFERENCE_FIELDS) {
    const value = reference[field];
    if (value !== '') text += `${text === '' ? '' : ','}"${field}":${stringOf(value)}`;
  }
  return text;
}

function statusOf({ status, message, reason, details, code }: EventStatus): string {
  let text = '';
  if (status) text += `,"status":${stringOf(status)}`;
  if (message) text += `,"message":${stringOf(message)}`;
  if (reason) text += `,"reason":${stringOf(reason)}`;
  if (details) text += `,"details":${stringifyJson(details)}`;
  if (code) text += `,"code":${code}`;
  return text;
}

function annotationsOf(annotations: ReadonlyMap<string, string>): string {
  const keys = [...annotations.keys()].sort();
  return keys.map((key) => `${stringOf(key)}:${stringOf(annotations.get(key)!)}`).join(',');
}
