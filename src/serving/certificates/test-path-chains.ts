import { CLIENT, type ChainRecipe, MIDDLE, ROOT, SERVER, client, server, serverThrough, through } from './test-chain-recipes.ts';

const DAYS = 24 * 3600;
const YEAR = 365 * DAYS;
const KNATIVE = {
  subject: [
    ['2.5.4.10', 'knative.dev'],
    ['2.5.4.3', 'webhook.ns.svc'],
  ],
} as const;

/** Which certificates are trust anchors. */
const anchors: Record<string, ChainRecipe> = {
  'client: of the root': client(),
  'server: of the root': server(),
  'client: an authority of the same name is not the authority': {
    certificates: { root: { ...ROOT, subject: 'ca' }, other: { ...ROOT, subject: 'ca' }, leaf: { ...CLIENT, by: 'other' } },
  },
  'client: an authority that nobody knows': { certificates: { root: ROOT, other: ROOT, leaf: { ...CLIENT, by: 'other' } } },
  'client: no authority at all': { ...client(), trusted: [] },
  'client: the leaf itself is trusted': { ...client(), trusted: ['leaf'] },
  'server: the leaf itself is trusted': { ...server(), trusted: ['leaf'] },
  'server: the leaf itself is trusted, but is for others': { ...server({}, {}, 'b.example'), trusted: ['leaf'] },
  'server: the leaf itself is trusted, but is for clients': { ...server({ usages: ['client'] }), trusted: ['leaf'] },
  'server: the leaf itself is trusted, but has expired': { ...server({ from: 2 * DAYS, until: -DAYS }), trusted: ['leaf'] },
  'server: self-signed and trusted': { certificates: { leaf: { ...SERVER, by: undefined } }, trusted: ['leaf'], host: 'a.example' },
  'server: self-signed and not trusted': { certificates: { root: ROOT, leaf: { ...SERVER, by: undefined } }, host: 'a.example' },
  'server: only the intermediate is trusted': { ...serverThrough({}), trusted: ['middle'] },
  'client: only the intermediate is trusted': { ...through({}), trusted: ['middle'] },
  'client: only the intermediate is trusted, and not sent': { ...through({}), trusted: ['middle'], sent: ['leaf'] },
  'server: authority and leaf share one subject, no key identifiers in the leaf (knative)': {
    // As knative.dev/pkg/webhook/certificates/resources makes them.
    certificates: {
      root: { ...KNATIVE, ca: true, keyUsage: 0x84, usages: ['server', 'client'], names: ['dns:webhook.ns.svc'], authorityKeyId: false },
      leaf: { ...KNATIVE, by: 'root', keyUsage: 0x80, usages: ['server'], names: ['dns:webhook.ns.svc'], subjectKeyId: false, authorityKeyId: false },
    },
    host: 'webhook.ns.svc',
  },
  'client: authority and leaf share one subject': client({ subject: 'root' }),
  'client: authority and leaf share one subject and key': client({ subject: 'root', key: '=root' }),
  'client: through one intermediate': through({}),
  'client: the intermediate is not sent': { ...through({}), sent: ['leaf'] },
  'client: through two, sent in the wrong order': {
    certificates: { root: ROOT, one: MIDDLE, two: { ...MIDDLE, by: 'one' }, leaf: { ...CLIENT, by: 'two' } },
    sent: ['leaf', 'one', 'two'],
  },
  'client: the root is sent along': { ...through({}), sent: ['leaf', 'middle', 'root'] },
  'client: everything is sent twice': { ...through({}), sent: ['leaf', 'middle', 'leaf', 'middle', 'root', 'root'] },
  'client: key identifiers that do not match': client({ authorityKeyId: 9 }),
  'client: no key identifiers': client({ authorityKeyId: false, subjectKeyId: false }, { subjectKeyId: false, authorityKeyId: false }),
  'client: two roots of one name, the second has signed': {
    certificates: { other: { ...ROOT, subject: 'ca', subjectKeyId: false }, root: { ...ROOT, subject: 'ca', subjectKeyId: false }, leaf: CLIENT },
    trusted: ['other', 'root'],
  },
  'client: cross-signed intermediate, one way leads to the root': {
    certificates: {
      root: ROOT,
      stranger: ROOT,
      wrong: { ...MIDDLE, by: 'stranger', subject: 'middle' },
      middle: { ...MIDDLE, key: '=wrong' },
      leaf: { ...CLIENT, by: 'middle' },
    },
    sent: ['leaf', 'wrong', 'middle'],
  },
  'client: cross-signed intermediate, the first way has expired': {
    certificates: {
      root: ROOT,
      old: { ...MIDDLE, subject: 'middle', from: 2 * DAYS, until: -1 },
      middle: { ...MIDDLE, key: '=old' },
      leaf: { ...CLIENT, by: 'middle' },
    },
    sent: ['leaf', 'old', 'middle'],
  },
  'client: authorities that signed each other': {
    certificates: {
      root: ROOT,
      a: { ca: true, subject: 'a' },
      b: { ca: true, subject: 'b', by: 'a' },
      again: { ca: true, subject: 'a', by: 'b', key: '=a' },
      leaf: { ...CLIENT, by: 'b' },
    },
    sent: ['leaf', 'b', 'again', 'a'],
  },
};

/** What makes an authority. */
const authorities: Record<string, ChainRecipe> = {
  'client: a root of version 1': client({}, { version: 1 }),
  'server: a root of version 1': server({}, { version: 1 }),
  'client: a root of version 2': client({}, { version: 2 }),
  'client: an intermediate of version 1': through({ version: 1 }),
  'client: a root without basic constraints': client({}, { hasBasicConstraints: false }),
  'client: a root that is no CA': client({}, { ca: false }),
  'client: an intermediate that is no CA': through({ ca: false }),
  'client: an intermediate without basic constraints': through({ hasBasicConstraints: false }),
  'client: a root that may not sign certificates': client({}, { keyUsage: 0x80 }),
  'client: an intermediate that may not sign certificates': through({ keyUsage: 0x80 }),
  'client: a root without key usage': client({}, { keyUsage: undefined }),
  'client: a root whose key usage is empty': client({}, { keyUsage: 0 }),
  'client: a leaf that may sign only': client({ keyUsage: 0x04 }),
  'client: a path of 0, nothing between': client({}, { pathLength: 0 }),
  'client: a path of 0, one between': through({}, {}, { pathLength: 0 }),
  'client: a path of 1, one between': through({}, {}, { pathLength: 1 }),
  'client: a path of 0 in the intermediate': through({ pathLength: 0 }),
  'client: two below an intermediate with a path of 0': {
    certificates: { root: ROOT, one: { ...MIDDLE, pathLength: 0 }, two: { ...MIDDLE, by: 'one' }, leaf: { ...CLIENT, by: 'two' } },
    sent: ['leaf', 'one', 'two'],
  },
  'client: a path length in a leaf': client({ pathLength: 0 }),
  'client: a leaf that is a CA': client({ ca: true }),
  'client: the leaf is of version 1': client({ version: 1 }),
  'client: a certificate that a client has signed': {
    certificates: { root: ROOT, middle: CLIENT, leaf: { ...CLIENT, by: 'middle' } },
    sent: ['leaf', 'middle'],
  },
};

/** When certificates are valid. */
const times: Record<string, ChainRecipe> = {
  'client: the leaf has expired': client({ from: 2 * DAYS, until: -1 }),
  'client: the leaf ends this second': client({ until: 0 }),
  'client: the leaf is not yet valid': client({ from: -60 }),
  'client: the leaf begins this second': client({ from: 0 }),
  'server: the leaf has expired': server({ from: 2 * DAYS, until: -1 }),
  'server: the leaf has expired and is for others': server({ from: 2 * DAYS, until: -1 }, {}, 'b.example'),
  'client: the root has expired': client({}, { from: 2 * DAYS, until: -1 }),
  'server: the root is not yet valid': server({}, { from: -60 }),
  'client: the intermediate has expired': through({ from: 2 * DAYS, until: -1 }),
  'client: a root until 2060': client({}, { until: 34 * YEAR }),
  'client: a root from 1949': client({}, { from: 77 * YEAR }),
};

/** What keys and signatures are good for. */
const signatures: Record<string, ChainRecipe> = {
  'client: signed with SHA-1 (RSA)': client({ signing: 'sha1' }, { key: 'rsa2048' }),
  'client: signed with MD5': client({ signing: 'md5' }, { key: 'rsa2048' }),
  'client: signed with SHA-1 (ECDSA)': client({ signing: 'sha1' }),
  'server: signed with SHA-1 (RSA)': server({ signing: 'sha1' }, { key: 'rsa2048' }),
  'client: the root has signed itself with SHA-1': client({}, { key: 'rsa2048', signing: 'sha1' }),
  'client: the root has signed itself with MD5': client({}, { key: 'rsa2048', signing: 'md5' }),
  'client: the intermediate is signed with SHA-1': through({ signing: 'sha1' }, {}, { key: 'rsa2048' }),
  'client: RSA with SHA-256': client({}, { key: 'rsa2048' }),
  'client: RSA with SHA-384': client({ signing: 'sha384' }, { key: 'rsa2048' }),
  'client: RSA with SHA-512': client({ signing: 'sha512' }, { key: 'rsa2048' }),
  'client: RSA-PSS with SHA-256': client({ signing: 'pss256' }, { key: 'rsa2048' }),
  'client: RSA-PSS with SHA-512': client({ signing: 'pss512' }, { key: 'rsa2048' }),
  'client: RSA-PSS with a salt of another length': client({ signing: 'pss-odd' }, { key: 'rsa2048' }),
  'client: P-224': client({}, { key: 'p224' }),
  'client: P-384 with SHA-384': client({ signing: 'sha384' }, { key: 'p384' }),
  'client: P-521 with SHA-512': client({ signing: 'sha512' }, { key: 'p521' }),
  'client: P-256 with SHA-512': client({ signing: 'sha512' }),
  'client: Ed25519': client({ key: 'ed25519' }, { key: 'ed25519' }),
  'client: an unknown signature algorithm': client({ signing: 'unknown' }),
  'client: DSA with SHA-1': client({ signing: 'dsa-sha1' }),
  'client: DSA with SHA-256 by an EC key': client({ signing: 'dsa-sha256' }),
  'client: DSA with SHA-256 by a DSA key': client({ signing: 'dsa-sha256' }, { key: 'dsa' }),
  'client: an authority with a DSA key': client({ signing: 'sha256' }, { key: 'dsa' }),
  'client: an authority with a key of unknown type': client({}, { key: 'unknown' }),
  'client: an authority with an X25519 key': client({}, { key: 'x25519' }),
  'client: an ECDSA signature, but an RSA authority of the name': {
    certificates: { root: { ...ROOT, subject: 'ca', key: 'rsa2048' }, other: { ...ROOT, subject: 'ca' }, leaf: { ...CLIENT, by: 'other' } },
  },
  'client: the signature is false (ECDSA)': client({ signing: 'broken' }),
  'client: the signature is false (RSA)': client({ signing: 'broken' }, { key: 'rsa2048' }),
  'server: the signature is false': server({ signing: 'broken' }),
  'client: RSA-1024': client({}, { key: 'rsa1024' }),
  'client: an authority with RSA-512': client({}, { key: 'rsa512' }),
  'client: the leaf has RSA-512': client({ key: 'rsa512' }),
  'client: the leaf has a DSA key': client({ key: 'dsa' }),
  'server: the leaf has a DSA key': server({ key: 'dsa' }),
  'server: the leaf has a DSA key and is for others': server({ key: 'dsa' }, {}, 'b.example'),
  'client: the leaf has a key of unknown type': client({ key: 'unknown' }),
  'server: the leaf has a key of unknown type': server({ key: 'unknown' }),
  'client: the leaf has an X25519 key': client({ key: 'x25519' }),
  'client: an intermediate with RSA-16384': through({ key: 'rsa16384' }, { by: 'root' }),
  'server: an intermediate with RSA-9000': serverThrough({ key: 'rsa9000' }, { by: 'root' }),
  'client: the leaf has RSA-16384': client({ key: 'rsa16384' }),
  'client: an untrusted authority of RSA-16384 that is not sent': {
    ...client(),
    certificates: { ...client().certificates, big: { ...ROOT, subject: 'root', key: 'rsa16384' } },
    trusted: ['big'],
  },
};

export const pathChains: Readonly<Record<string, ChainRecipe>> = { ...anchors, ...authorities, ...times, ...signatures };
