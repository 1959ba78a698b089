import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { CommandError } from './command-error.ts';
import { type CompletedOptions, complete } from './completion.ts';
import { parseFlags } from './flags/parser.ts';
import { KUBERNETES_VERSION } from './version.ts';

const host = { hostname: () => 'node1', outsideAddress: (family: 4 | 6) => (family === 4 ? '192.0.2.7' : '2001:db8::7') };
const hostWithoutNetwork = { hostname: () => 'node1', outsideAddress: () => undefined };
const completed = (...args: string[]): CompletedOptions => complete(parseFlags(args), host);
const errorsOf = (...args: string[]): readonly string[] => {
  try {
    completed(...args);
  } catch (error) {
    return (error as CommandError).lines;
  }
  return [];
};

const folder = mkdtempSync(join(tmpdir(), 'binnacle-test-'));
afterAll(() => rmSync(folder, { recursive: true }));
const existing = join(folder, 'file.pem');
writeFileSync(existing, '');

describe('with no flags', () => {
  const options = completed();

  test('objects are kept in the embedded store, and what is generated beside it', () => {
    const dataDir = resolve('.binnacle');
    expect(options).toMatchObject({
      storageBackend: 'embedded',
      dataDir,
      storeDir: join(dataDir, 'store'),
      tlsCertFile: join(dataDir, 'certificates', 'apiserver.crt'),
      tlsPrivateKeyFile: join(dataDir, 'certificates', 'apiserver.key'),
      isServingPairGenerated: true,
      serviceAccountSigningKeyFile: join(dataDir, 'service-account.key'),
      isSigningKeyGenerated: true,
      serviceAccountKeyFile: [join(dataDir, 'service-account.key')],
      serviceAccountIssuer: ['https://kubernetes.default.svc'],
      apiAudiences: ['https://kubernetes.default.svc'],
    });
  });

  test('the rest is as upstream completes it', () => {
    expect(options).toMatchObject({
      advertiseAddress: '192.0.2.7',
      externalHostname: '192.0.2.7',
      authorizationMode: ['AlwaysAllow'],
      anonymousAuth: false,
      serviceClusterIpRanges: ['10.0.0.0/24'],
      apiServerServiceIp: '10.0.0.1',
      kubernetesVersion: KUBERNETES_VERSION,
      tls: { minVersion: 'TLSv1.2' },
    });
    expect(options.admissionPlugins.slice(0, 3)).toEqual(['NamespaceLifecycle', 'LimitRanger', 'ServiceAccount']);
  });

  test('flags of etcd change nothing on another store, and it says so', () => {
    const { warnings } = completed('--lease-reuse-duration-seconds=30', '--storage-media-type=application/json');
    expect(warnings.filter((warning) => warning.includes('has no effect'))).toEqual([
      '--lease-reuse-duration-seconds has no effect here: objects are not kept in etcd (--storage-backend=embedded)',
      '--storage-media-type has no effect here: objects are not kept in etcd (--storage-backend=embedded)',
    ]);
  });

  test('nobody could log in, and it says so', () => {
    expect(options.warnings).toEqual(['nobody can log in: give --client-ca-file or --token-auth-file, or run `binnacle up`, which makes an administrator']);
  });
});

describe('completion', () => {
  test.each<[string[], Partial<CompletedOptions>]>([
    [['--bind-address=198.51.100.1'], { advertiseAddress: '198.51.100.1' }],
    [['--bind-address=127.0.0.1'], { advertiseAddress: '192.0.2.7' }],
    [['--advertise-address=203.0.113.1', '--external-hostname=api.example'], { advertiseAddress: '203.0.113.1', externalHostname: 'api.example' }],
    [['--authorization-mode=RBAC'], { authorizationMode: ['RBAC'], anonymousAuth: true }],
    [['--cert-dir=/certs'], { tlsCertFile: '/certs/apiserver.crt' }],
    [[`--tls-cert-file=${existing}`, `--tls-private-key-file=${existing}`], { tlsCertFile: existing, isServingPairGenerated: false }],
    [['--service-cluster-ip-range=10.96.0.0/12,fd00::/108'], { serviceClusterIpRanges: ['10.96.0.0/12', 'fd00::/108'], apiServerServiceIp: '10.96.0.1' }],
    [
      ['--runtime-config=v1=false,api/legacy=true,apps/v1'],
      {
        runtimeConfig: new Map([
          ['/v1', false],
          ['apps/v1', true],
        ]),
      },
    ],
    [['--admission-control=NamespaceExists'], { admissionPlugins: ['NamespaceExists'] }],
    [['--tls-min-version=VersionTLS13', '--tls-curve-preferences=23,29'], { tls: { minVersion: 'TLSv1.3', ecdhCurve: 'P-256:X25519' } }],
    [[`--version=${KUBERNETES_VERSION}-mine`], { kubernetesVersion: `${KUBERNETES_VERSION}-mine` }],
  ])('%j', (args, expected) => {
    expect(completed(...args)).toMatchObject(expected);
  });

  test('a machine with no network advertises its loopback address', () => {
    expect(complete(parseFlags([]), hostWithoutNetwork).advertiseAddress).toBe('127.0.0.1');
  });

  test('plug-ins are enabled and disabled by name, and keep their order', () => {
    const { admissionPlugins } = completed('--enable-admission-plugins=AlwaysPullImages,NamespaceExists', '--disable-admission-plugins=LimitRanger');
    expect(admissionPlugins.slice(0, 5)).toEqual(['NamespaceLifecycle', 'NamespaceExists', 'ServiceAccount', 'TaintNodesByCondition', 'AlwaysPullImages']);
  });
});

test('all errors come at once, in upstream order', () => {
  expect(
    errorsOf(
      '--goaway-chance=0.5',
      '--livez-grace-period=-1s',
      '--max-requests-inflight=-1',
      '--storage-backend=sqlite',
      '--secure-port=70000',
      '--authorization-mode=RBAC,RBAC,Best',
      '--enable-admission-plugins=Nope',
      '--service-cluster-ip-range=banana',
      '--apiserver-count=0',
      '--token-auth-file=/no/such/file',
    ),
  ).toEqual([
    'service-cluster-ip-range[0] is not a valid cidr',
    '--livez-grace-period can not be a negative value',
    '--max-requests-inflight can not be negative value',
    '--goaway-chance can not be less than 0 or greater than 0.02',
    "--storage-backend invalid, allowed values: embedded, memory, etcd3. If not specified, it will default to 'embedded', or to 'etcd3' with --etcd-servers",
    '--secure-port 70000 must be between 1 and 65535, inclusive, or 0 for any free one',
    'authorization-mode "Best" is not a valid mode',
    'authorization-mode ["RBAC" "RBAC" "Best"] has mode specified more than once',
    'enable-admission-plugins plugin "Nope" is unknown',
    "--apiserver-count should be a positive number, but value '0' provided",
    '--token-auth-file: cannot read "/no/such/file": no such file',
  ]);
});

describe('validation', () => {
  test.each<[string[], string[]]>([
    [['--cors-allowed-origins=//example\\.com(:|$)'], []],
    [['--token-auth-file=/'], ['--token-auth-file: cannot read "/": it is a folder']],
    [['--cors-allowed-origins=example.com'], [expect.stringContaining('does not pin to start/end of host')]],
    [['--cors-allowed-origins=^(a$'], [expect.stringContaining('--cors-allowed-origins has an invalid regular expression')]],
    [['--strict-transport-security-directives=max-age=1,preload'], []],
    [['--strict-transport-security-directives=max-agee=1'], [expect.stringContaining('--strict-transport-security-directives invalid')]],
    [
      ['--storage-media-type=text/plain'],
      ['--storage-media-type "text/plain" invalid, allowed values: application/json, application/vnd.kubernetes.protobuf, application/yaml'],
    ],
    [['--watch-cache-sizes=pods#-1,x'], ['watch cache size cannot be negative: pods#-1', 'invalid value of watch cache size: x']],
    [['--encryption-provider-config-automatic-reload'], ['--encryption-provider-config-automatic-reload must be set with --encryption-provider-config']],
    [['--tls-cert-file', existing], ['--tls-cert-file and --tls-private-key-file must be given together']],
    [
      ['--tls-min-version=SSL3', '--tls-cipher-suites=NULL', '--tls-curve-preferences=23,23,99999'],
      [
        'unknown tls version "SSL3"',
        expect.stringContaining("Cipher suite NULL not supported or doesn't exist"),
        'duplicate curve preference 23',
        'curve preference 99999 is out of range (must be 1-65535)',
      ],
    ],
    [['--oidc-issuer-url=https://x'], ['oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set']],
    [['--service-account-issuer=a', '--service-account-issuer=a'], ['service-account-issuer "a" is already specified']],
    [['--service-account-jwks-uri=http://x'], ['service-account-jwks-uri requires https scheme, parsed as: http://x']],
    [['--service-account-max-token-expiration=1m'], ['the service-account-max-token-expiration must be between 1 hour and 2^32 seconds']],
    [
      ['--requestheader-uid-headers=X-Uid'],
      ['--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work'],
    ],
    [['--authorization-mode=ABAC'], ["authorization-mode ABAC's authorization policy file not passed"]],
    [
      ['--authorization-config', existing, '--authorization-mode=RBAC'],
      ['--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined'],
    ],
    [
      ['--audit-log-path=-', '--audit-log-mode=x', '--audit-log-maxage=-1'],
      ['invalid audit log mode x, allowed modes are "batch,blocking,blocking-strict"', "--audit-log-maxage -1 can't be a negative number"],
    ],
    [['--audit-log-mode=x'], []],
    [
      ['--enable-admission-plugins=NodeRestriction', '--disable-admission-plugins=NodeRestriction'],
      ['[NodeRestriction] in enable-admission-plugins and disable-admission-plugins overlapped'],
    ],
    [['--runtime-config=api/all=false', '--enable-priority-and-fairness=false'], ['invalid runtime-config with only api/all=false']],
    [
      ['--runtime-config=api/all=false'],
      ['--runtime-config=api/all=false conflicts with --enable-priority-and-fairness=true', 'invalid runtime-config with only api/all=false'],
    ],
    [
      ['--runtime-config=nope/v1=true,a=true,apps/v1=x'],
      ['invalid value of apps/v1: x, err: strconv.ParseBool: parsing "x": invalid syntax', 'runtime-config invalid key a', 'unknown api groups nope/v1'],
    ],
    [
      ['--show-hidden-metrics-for-version=1.2'],
      [`metrics.showHiddenMetricsForVersion: Invalid value: "1.2": must be omitted or have the value '1.35'; only the previous minor version is allowed`],
    ],
    [['--logging-format=xml'], ['format: Invalid value: "xml": Unsupported log format']],
    [['--coordinated-leadership-lease-duration=1s'], ['--coordinated-leadership-lease-duration must be greater than --coordinated-leadership-renew-deadline']],
    [['--peer-ca-file=package.json'], ['error building peer proxy handler, proxy-cert-file not specified']],
    [
      ['--feature-gates=UnknownVersionInteroperabilityProxy=false', '--peer-advertise-ip=192.0.2.1', '--peer-advertise-port=1'],
      [
        '--peer-advertise-ip requires UnknownVersionInteroperabilityProxy feature to be turned on',
        '--peer-advertise-port requires UnknownVersionInteroperabilityProxy feature to be turned on',
      ],
    ],
    [
      ['--service-cluster-ip-range=10.0.0.0/30'],
      ['error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses'],
    ],
    [
      ['--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24'],
      ['--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family'],
    ],
    [['--service-cluster-ip-range=fd00::/108'], ['service IP family "fd00::/108" must match public address family "192.0.2.7"']],
    [['--endpoint-reconciler-type=x'], ['--endpoint-reconciler-type "x" invalid, allowed values: lease, master-count, none']],
    [['--kubernetes-service-node-port=80'], ["kubernetes service node port range 30000-32767 doesn't contain 80"]],
    [['--feature-gates=Nope=true'], ['unrecognized feature gate: Nope']],
    [
      ['--version=v1.35.0'],
      [`invalid argument "v1.35.0" for "--version" flag: version "v1.35.0" must match major/minor/patch of default version "${KUBERNETES_VERSION}"`],
    ],
  ])('%j', (args, errors) => {
    expect(errorsOf(...args)).toEqual(errors);
  });

  test('with etcd, what upstream requires is required', () => {
    expect(errorsOf('--etcd-servers=http://127.0.0.1:2379')).toEqual([
      'service-account-issuer is a required flag',
      'either `--service-account-key-file` or `--service-account-signing-endpoint` must be set',
      '--service-account-signing-key-file and --service-account-issuer are required flags',
    ]);
  });
});
