import { CLIENT, type ChainRecipe, MIDDLE, ROOT, SERVER, client, server, serverThrough, through } from './test-chain-recipes.ts';
import type { CertificateRecipe, Name } from './test-certificates.ts';

/** What certificates may be used for. */
const usages: Record<string, ChainRecipe> = {
  'client: a serving certificate': client({ usages: ['server'] }),
  'server: a client certificate': server({ usages: ['client'] }),
  'client: for both': client({ usages: ['server', 'client'] }),
  'client: without extended key usage': client({ usages: undefined }),
  'client: for any use': client({ usages: ['any'] }),
  'client: for a use that nobody knows': client({ usages: ['1.2.3.4'] }),
  'client: an extended key usage that is empty': client({ usages: [] }),
  'client: below an authority for servers': client({}, { usages: ['server'] }),
  'client: below an authority for any use': client({}, { usages: ['any'] }),
  'client: below an authority for clients': client({}, { usages: ['client'] }),
  'client: below an intermediate for servers': through({ usages: ['server'] }),
  'client: below an intermediate for an unknown use': through({ usages: ['1.2.3.4'] }),
  'client: any use below an intermediate for servers': through({ usages: ['server'] }, { usages: ['any'] }),
  'server: key usage of the leaf is not looked at': server({ keyUsage: 0x02 }),
};

/** What a server's certificate is for. */
const hosts: Record<string, ChainRecipe> = {
  'server: a name that is not its own': server({}, {}, 'b.example'),
  'server: an address': server({}, {}, '127.0.0.1'),
  'server: an address in brackets': server({ names: ['ip:::1'] }, {}, '[::1]'),
  'server: an address that is not its own': server({ names: ['ip:10.0.0.1', 'ip:fd00::1', 'dns:x'] }, {}, '127.0.0.1'),
  'server: an address, but only names': server({ names: ['dns:a.example'] }, {}, '127.0.0.1'),
  'server: an address as a name': server({ names: ['dns:127.0.0.1'] }, {}, '127.0.0.1'),
  'server: a name, but only addresses': server({ names: ['ip:127.0.0.1'] }),
  'server: a mapped address': server({ names: ['ip:::ffff:127.0.0.1'] }, {}, '127.0.0.1'),
  'server: only a common name, the right one': server({ names: undefined, subject: 'a.example' }),
  'server: only a common name, another': server({ names: undefined, subject: 'b.example' }),
  'server: only a common name that is the address': server({ names: undefined, subject: '127.0.0.1' }, {}, '127.0.0.1'),
  'server: no name at all': server({ names: undefined, subject: [] }),
  'server: letters of any case': server({ names: ['dns:A.Example'] }, {}, 'a.EXAMPLE'),
  'server: a final dot': server({}, {}, 'a.example.'),
  'server: a final dot in the certificate': server({ names: ['dns:a.example.'] }),
  'server: a wildcard': server({ names: ['dns:*.example'] }),
  'server: a wildcard is one label': server({ names: ['dns:*.example'] }, {}, 'a.b.example'),
  'server: a wildcard is not nothing': server({ names: ['dns:*.example'] }, {}, 'example'),
  'server: a wildcard within a label': server({ names: ['dns:a*.example'] }, {}, 'ab.example'),
  'server: a bare wildcard': server({ names: ['dns:*'] }, {}, 'example'),
  'server: an underscore': server({ names: ['dns:_a.example'] }, {}, '_a.example'),
  'server: letters that are no name of a host': server({ names: ['dns:a b'] }, {}, 'A b'),
  'server: an empty label': server({ names: ['dns:a..example'] }, {}, 'a..example'),
  'server: a hundred names': server({ names: Array.from({ length: 100 }, (_, index): Name => `dns:${index}.example`) }),
  'server: a hundred addresses': server({ names: Array.from({ length: 100 }, (_, index): Name => `ip:10.0.0.${index}`) }, {}, '127.0.0.1'),
};

const constrained = (names: Name[], permitted: Name[] | undefined, excluded?: Name[], more: CertificateRecipe = {}): ChainRecipe =>
  through({ ...(permitted && { permitted }), ...(excluded && { excluded }), ...more }, { names });

/** What authorities may sign for. */
const constraints: Record<string, ChainRecipe> = {
  'client: a name that is permitted': constrained(['dns:a.good.example'], ['dns:good.example']),
  'client: the domain itself is permitted': constrained(['dns:good.example'], ['dns:good.example']),
  'client: a name that is not permitted': constrained(['dns:a.bad.example'], ['dns:good.example']),
  'client: a name that only ends alike': constrained(['dns:notgood.example'], ['dns:good.example']),
  'client: a constraint with a dot, a subdomain': constrained(['dns:a.good.example'], ['dns:.good.example']),
  'client: a constraint with a dot, the domain itself': constrained(['dns:good.example'], ['dns:.good.example']),
  'client: constraints that are not critical hold as well': constrained(['dns:a.bad.example'], ['dns:good.example'], undefined, { constraintsCritical: false }),
  'client: a name that is excluded': constrained(['dns:a.bad.example'], undefined, ['dns:bad.example']),
  'client: permitted and excluded': constrained(['dns:x.a.example'], ['dns:example'], ['dns:a.example']),
  'client: the widest exclusion is told': constrained(['dns:x.a.example'], undefined, ['dns:x.a.example', 'dns:a.example']),
  'client: a wildcard over an excluded name': constrained(['dns:*.example'], undefined, ['dns:Bad.example']),
  'client: a wildcard that is permitted': constrained(['dns:*.good.example'], ['dns:good.example']),
  'client: everything is excluded': constrained(['dns:a.example'], undefined, ['dns:']),
  'client: letters of any case in constraints': constrained(['dns:A.GOOD.example'], ['dns:Good.Example']),
  'client: names of another type are free': constrained(['ip:10.0.0.1'], ['dns:good.example']),
  'client: no names, nothing to refuse': through({ permitted: ['dns:good.example'] }),
  'client: an address that is permitted': constrained(['ip:10.1.2.3'], ['ip:10.0.0.0/8']),
  'client: an address that is not permitted': constrained(['ip:11.1.2.3'], ['ip:10.0.0.0/8', 'ip:fd00::/8']),
  'client: an address that is excluded': constrained(['ip:10.1.2.3'], undefined, ['ip:10.1.0.0/16']),
  'client: an address of version 6 that is excluded': constrained(['ip:fd00::1'], undefined, ['ip:fd00::/8']),
  'client: an address of version 6 below constraints of version 4': constrained(['ip:fd00::1'], ['ip:10.0.0.0/8']),
  'client: mail that is permitted by its domain': constrained(['email:joe@good.example'], ['email:good.example']),
  'client: mail that is not permitted': constrained(['email:joe@bad.example'], ['email:good.example']),
  'client: mail that is permitted by its address': constrained(['email:joe@Good.example'], ['email:joe@good.example']),
  'client: mail of another than the one permitted': constrained(['email:jane@good.example'], ['email:joe@good.example']),
  'client: mail that is excluded': constrained(['email:joe@bad.example'], undefined, ['email:joe@bad.example']),
  'client: mail with quotes': constrained(['email:"joe doe"@bad.example'], undefined, ['email:bad.example']),
  'client: what is no mail': constrained(['email:joe'], ['email:good.example']),
  'client: a URI that is permitted': constrained(['uri:https://a.good.example:8443/x'], ['uri:good.example']),
  'client: a URI that is not permitted': constrained(['uri:spiffe://bad.example/ns'], ['uri:good.example']),
  'client: a URI that is excluded': constrained(['uri:https://bad.example/x'], undefined, ['uri:bad.example']),
  'client: a URI without a host': constrained(['uri:urn:x'], ['uri:good.example']),
  'client: a URI with an address': constrained(['uri:https://10.0.0.1/x'], ['uri:good.example']),
  'client: names of directories, critical': constrained(['dns:a.example'], ['dir:x']),
  'client: names of directories, not critical': constrained(['dns:a.example'], ['dir:x'], undefined, { constraintsCritical: false }),
  'client: names of directories beside others, not critical': constrained(['dns:a.bad.example'], ['dir:x', 'dns:good.example'], undefined, {
    constraintsCritical: false,
  }),
  'client: constraints of the root': client({ names: ['dns:a.bad.example'] }, { permitted: ['dns:good.example'] }),
  'client: constraints of the root on the name of an intermediate': through({ names: ['dns:bad.example'] }, {}, { permitted: ['dns:good.example'] }),
  'client: constraints of the leaf hold for nobody': client({ names: ['dns:a.bad.example'], permitted: ['dns:good.example'] }),
  'client: both authorities must permit it': through({ permitted: ['dns:a.example'] }, { names: ['dns:x.a.example'] }, { permitted: ['dns:b.example'] }),
  'server: a name beside the one that is wanted is not permitted': serverThrough(
    { permitted: ['dns:a.example'] },
    { names: ['dns:a.example', 'dns:bad.example'] },
  ),
  'client: a constrained way and a free one': {
    certificates: {
      root: ROOT,
      tight: { ...MIDDLE, subject: 'middle', permitted: ['dns:good.example'] },
      middle: { ...MIDDLE, key: '=tight' },
      leaf: { ...CLIENT, by: 'middle', names: ['dns:bad.example'] },
    },
    sent: ['leaf', 'tight', 'middle'],
  },
  'client: an empty constraint': through({ permitted: [] }),
  'client: a constraint that is no domain': through({ permitted: ['dns:a..b'] }),
  'client: a mask with holes': through({ permitted: ['raw:135:0a000000ff00ff00'] }),
  'client: a range of a strange size': through({ permitted: ['raw:135:0a0000'] }),
  'client: a URI constraint that is an address': through({ permitted: ['uri:10.0.0.1'] }),
};

/** Extensions, and what the parser refuses. */
const parsing: Record<string, ChainRecipe> = {
  'client: an unknown critical extension in the leaf': client({ extensions: [['1.2.3.4', true, '0500']] }),
  'client: an unknown extension in the leaf': client({ extensions: [['1.2.3.4', false, '0500']] }),
  'client: an unknown critical extension in the root': client({}, { extensions: [['1.2.3.4', true, '0500']] }),
  'client: an unknown critical extension in the intermediate': through({ extensions: [['1.2.3.4', true, '0500']] }),
  'client: a critical subject alternative name of a directory': client({ names: ['dir:x'], namesCritical: true }),
  'client: a critical subject alternative name': client({ names: ['dns:a.example'], namesCritical: true }),
  'client: an extension twice': client({ extensions: [['2.5.29.37', false, '3000']] }),
  'client: a negative serial number': client({ serial: [0xff] }),
  'server: a negative serial number': server({ serial: [0x80] }),
  'client: a serial number of zero': client({ serial: [0] }),
  'client: a serial number that is too long for its value': client({ serial: [0, 1] }),
  'client: the root has a negative serial number': client({}, { serial: [0xff] }),
  'client: an intermediate with a negative serial number': through({ serial: [0xff] }),
  'client: bytes behind the certificate': client({ trailing: '00' }),
  'client: a critical subject key identifier': client({ subjectKeyId: false, extensions: [['2.5.29.14', true, '040101']] }),
  'client: a critical authority key identifier': client({ authorityKeyId: false, extensions: [['2.5.29.35', true, '3003800101']] }),
  'client: a critical authority info access': client({ extensions: [['1.3.6.1.5.5.7.1.1', true, '3000']] }),
  'client: basic constraints that are none': client({ hasBasicConstraints: false, extensions: [['2.5.29.19', true, '0500']] }),
  'client: key usage that is none': client({ extensions: [['2.5.29.15', true, '0500']] }),
  'client: an address of five bytes': client({ names: ['raw:135:0a00000001'] }),
  'client: a name that is not ASCII': client({ names: ['dns:k\u00e4se'] }),
  'client: a URI that is none': client({ names: ['uri:https://a b/'] }),
  'client: a URI of an impossible domain': client({ names: ['uri:https://a..b/'] }),
  'client: CRL distribution points, critical': client({ extensions: [['2.5.29.31', true, '3000']] }),
  'client: an issuer that is named otherwise': client({ issuer: 'someone' }),
  'client: the authority has no common name': { certificates: { root: { ...ROOT, subject: [['2.5.4.10', 'org']], until: -1, from: 9999 }, leaf: CLIENT } },
  'server: the authority has no name but a serial number': {
    certificates: { root: { ...ROOT, subject: [], serial: [1, 0] }, other: { ...ROOT, subject: [] }, leaf: { ...SERVER, by: 'other' } },
    host: 'a.example',
  },
};

const A = '1.2.3.10';
const B = '1.2.3.11';
const ANY = '2.5.29.32.0';

/** Policies (RFC 5280 §6.1, RFC 9618). */
const policies: Record<string, ChainRecipe> = {
  'client: policies that differ, where nobody asks': through({ policies: [A] }, { policies: [B] }),
  'client: an explicit policy is there': through({ policies: [A], requireExplicit: 0 }, { policies: [A] }),
  'client: an explicit policy is missing in the leaf': through({ policies: [A], requireExplicit: 0 }),
  'client: an explicit policy is another in the leaf': through({ policies: [A], requireExplicit: 0 }, { policies: [B] }),
  'client: any policy stands for all': through({ policies: [ANY], requireExplicit: 0 }, { policies: [B] }),
  'client: any policy of the leaf': through({ policies: [A], requireExplicit: 0 }, { policies: [ANY] }),
  'client: any policy is inhibited': through({ policies: [A], requireExplicit: 0, inhibitAny: 0 }, { policies: [ANY] }),
  'client: a policy that is mapped': through({ policies: [A], mappings: [[A, B]], requireExplicit: 0 }, { policies: [B] }),
  'client: a policy that was mapped to another': through({ policies: [A], mappings: [[A, B]], requireExplicit: 0 }, { policies: [A] }),
  'client: any policy cannot be mapped': through({ policies: [ANY], mappings: [[ANY, B]] }, { policies: [B] }),
  'client: mapping is inhibited above': {
    certificates: {
      root: ROOT,
      one: { ...MIDDLE, policies: [A], inhibitMapping: 0, requireExplicit: 0 },
      two: { ...MIDDLE, by: 'one', policies: [A], mappings: [[A, B]] },
      leaf: { ...CLIENT, by: 'two', policies: [B] },
    },
    sent: ['leaf', 'one', 'two'],
  },
  'client: an explicit policy in the root is not looked at': client({}, { requireExplicit: 0 }),
  'client: the leaf asks for an explicit policy': client({ requireExplicit: 0 }),
  'client: policies and usages are both wrong': {
    certificates: {
      root: ROOT,
      one: { ...MIDDLE, subject: 'middle', policies: [A], requireExplicit: 0 },
      middle: { ...MIDDLE, key: '=one', usages: ['server'] },
      leaf: { ...CLIENT, by: 'middle' },
    },
    sent: ['leaf', 'one', 'middle'],
  },
  'client: a policy twice': client({ extensions: [['2.5.29.32', false, '300c300406022901300406022901']] }),
};

export const nameChains: Readonly<Record<string, ChainRecipe>> = { ...usages, ...hosts, ...constraints, ...parsing, ...policies };
