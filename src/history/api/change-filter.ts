import type { FieldRequirement } from '../../api/field-selector.ts';
import { type WriteAuthor, authorOf } from '../../registry/write-author.ts';
import type { ChangeRecord } from '../kept/record-block.ts';
import { type ObjectPlace, changeName, changeType } from './change-object.ts';

const NO_AUTHOR: WriteAuthor = {
  verb: '' as WriteAuthor['verb'],
  subresource: '',
  username: '',
  groups: [],
  impersonator: '',
  userAgent: '',
  fieldManager: '',
};

/** What a key tells of a change. */
const OF_PLACE: Readonly<Record<string, (place: ObjectPlace) => string>> = {
  'metadata.namespace': ({ namespace }) => namespace,
  'object.namespace': ({ namespace }) => namespace,
  'object.group': ({ group }) => group,
  'object.resource': ({ resource }) => resource,
  'object.name': ({ name }) => name,
};

/** What a record tells of a change without its versions. */
const OF_RECORD: Readonly<Record<string, (record: ChangeRecord, author: WriteAuthor) => string>> = {
  'metadata.name': ({ revision }) => changeName(revision),
  type: changeType,
  auditID: ({ auditId }) => auditId,
  'user.username': (_record, { username }) => username,
  userAgent: (_record, { userAgent }) => userAgent,
  fieldManager: (_record, { fieldManager }) => fieldManager,
  verb: (_record, { verb }) => verb,
  subresource: (_record, { subresource }) => subresource,
};

/** Which changes a request asks for: what can be told early is asked first, so that most versions need not be made. */
export class ChangeFilter {
  readonly #ofPlace: readonly FieldRequirement[];
  readonly #ofRecord: readonly FieldRequirement[];
  readonly #namespace: string;
  readonly #authors = new Map<string, WriteAuthor>();

  constructor(requirements: readonly FieldRequirement[], namespace: string) {
    this.#ofPlace = requirements.filter(({ field }) => Object.hasOwn(OF_PLACE, field));
    this.#ofRecord = requirements.filter(({ field }) => Object.hasOwn(OF_RECORD, field));
    this.#namespace = namespace;
  }

  /** Whether it can be told by the key of an object that there is nothing to be seen of it. */
  get isOfPlace(): boolean {
    return this.#namespace !== '' || this.#ofPlace.length > 0;
  }

  matchesPlace(place: ObjectPlace): boolean {
    if (this.#namespace !== '' && place.namespace !== this.#namespace) return false;
    return this.#ofPlace.every(({ field, operator, value }) => (OF_PLACE[field]!(place) === value) === (operator === '='));
  }

  matchesRecord(record: ChangeRecord): boolean {
    return this.#ofRecord.every(({ field, operator, value }) => (OF_RECORD[field]!(record, this.#authorOf(record)) === value) === (operator === '='));
  }

  #authorOf({ author }: ChangeRecord): WriteAuthor {
    if (author === '') return NO_AUTHOR;
    let known = this.#authors.get(author);
    if (known === undefined) this.#authors.set(author, (known = authorOf(author) ?? NO_AUTHOR));
    return known;
  }
}
