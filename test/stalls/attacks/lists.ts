import { type Attack, type AttackClients, inNamespace, names, repeated } from '../attack.ts';

const COUNT = 10_000;
const AT_ONCE = 50;
const path = inNamespace('v1', 'configmaps');

let isFilled = false;

/** Ten thousand objects of about a kilobyte, once for all attacks. */
async function fill({ admin }: AttackClients): Promise<void> {
  if (isFilled) return;
  isFilled = true;
  const indexes = repeated(COUNT, (index) => index).values();
  const work = async (): Promise<void> => {
    for (const index of indexes) {
      const labels = { app: `a${index % 10}`, tier: index % 2 === 0 ? 'even' : 'odd' };
      await admin.create(path, { metadata: { name: `many-${index}`, labels }, data: { a: 'x'.repeat(400), 'b.json': `{"text": "${'y z '.repeat(50)}"}` } });
    }
  };
  await Promise.all(repeated(AT_ONCE, work));
}

const listed = (name: string, row: number, accept: string, query = '', more: Record<string, string> = {}): Attack => ({
  name,
  row,
  prepare: fill,
  send: ({ namespaceAdmin }) => namespaceAdmin.send({ path: `${path}${query}`, headers: { accept, ...more } }),
});

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const YAML = 'application/yaml';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const CBOR = 'application/cbor';
const METADATA = ';as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

const selecting = (requirements: readonly string[], field = 'labelSelector'): string => `?${field}=${encodeURIComponent(requirements.join(','))}`;

/** Lists of many objects, in every form that they can be asked for, and by selectors that each of them is held against. */
export const listAttacks: readonly Attack[] = [
  listed('10,000 objects as YAML', 8, YAML),
  listed('10,000 objects as YAML, compressed', 8, YAML, '', { 'accept-encoding': 'gzip' }),
  {
    ...listed('ten lists of 10,000 objects as YAML at once, nine of which nobody reads to the end', 8, YAML),
    async send({ namespaceAdmin }) {
      const open = repeated(9, () => namespaceAdmin.open({ path, headers: { accept: YAML } }));
      const whole = namespaceAdmin.send({ path, headers: { accept: YAML } });
      for (const response of await Promise.all(open)) response.destroy();
      return whole;
    },
  },
  listed('10,000 objects as JSON', 13, 'application/json'),
  listed('10,000 objects as protobuf', 13, PROTOBUF),
  listed('10,000 objects as CBOR', 13, CBOR),
  listed('10,000 objects as pretty JSON', 13, 'application/json', '?pretty=true'),
  listed('10,000 objects as a Table', 13, TABLE),
  listed('10,000 objects as a Table with the objects', 13, TABLE, '?includeObject=Object'),
  listed('10,000 objects as a Table in YAML', 13, 'application/yaml;as=Table;v=v1;g=meta.k8s.io'),
  { ...listed('10,000 objects as a Table in CBOR', 13, 'application/cbor;as=Table;v=v1;g=meta.k8s.io'), isLong: true },
  ...['application/json', YAML, PROTOBUF, CBOR].map((type) => listed(`the metadata of 10,000 objects as ${type}`, 13, `${type}${METADATA}`)),
  listed('the metadata of 10,000 objects as pretty JSON', 13, `application/json${METADATA}`, '?pretty=true'),
  ...['application/json', YAML, TABLE].map((type) => ({
    ...listed(`10,000 objects as ${type}, audited`, 13, type),
    isLong: type !== TABLE,
    send: ({ audited }: AttackClients) => audited.send({ path, headers: { accept: type } }),
  })),
  ...['application/json', PROTOBUF, `${TABLE},application/json`].map((type) => ({
    ...listed(`10,000 objects as ${type}, audited without managed fields`, 13, type),
    isLong: type !== PROTOBUF,
    send: ({ auditedInPart }: AttackClients) => auditedInPart.send({ path: `${path}?includeObject=Object`, headers: { accept: type } }),
  })),
  {
    ...listed('ten lists of 10,000 objects at once, audited', 13, 'application/json'),
    isLong: true,
    async send({ audited }) {
      const answers = await Promise.all(repeated(10, () => audited.send({ path })));
      return answers.at(-1)!;
    },
  },
  ...['application/json', PROTOBUF, CBOR].map((type) => ({
    ...listed(`a watch that begins with 10,000 objects as ${type}`, 13, type),
    isLong: type !== PROTOBUF,
    async send({ namespaceAdmin }: AttackClients) {
      const query = '?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1';
      return namespaceAdmin.send({ path: `${path}${query}`, headers: { accept: type } });
    },
  })),
  listed('10,000 objects by 1,000 labels that none has', 13, 'application/json', selecting(names('!k', 1_000))),
  listed('10,000 objects by 1,000 values of a label that none has', 13, 'application/json', selecting(names('app!=v', 1_000))),
  listed('10,000 objects by 1,000 names that none has', 13, 'application/json', selecting(names('metadata.name!=v', 1_000), 'fieldSelector')),
  listed('10,000 objects by one of 10,000 values', 13, 'application/json', selecting([`app in (${names('v', 9_999).join(',')},a1)`])),
];
