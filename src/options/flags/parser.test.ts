import { describe, expect, test } from 'vitest';
import type { Options } from './options.ts';
import { parseFlags } from './parser.ts';

const valueOf = <Name extends keyof Options>(name: Name, ...args: string[]): Options[Name] => parseFlags(args).options[name];
const errorOf = (...args: string[]): string => {
  try {
    parseFlags(args);
  } catch (error) {
    return (error as Error).message;
  }
  return 'no error';
};

describe('values', () => {
  test.each<[keyof Options, string[], unknown]>([
    ['securePort', ['--secure-port=8443'], 8443],
    ['securePort', ['--secure-port', '8443'], 8443],
    ['securePort', ['--secure-port=0x10'], 16],
    ['securePort', ['--secure-port=1', '--secure-port=2'], 2],
    ['securePort', ['--secure_port=1'], 1],
    ['anonymousAuth', ['--anonymous-auth=false'], false],
    ['profiling', ['--profiling'], true],
    ['disableHttp2Serving', ['--disable-http2-serving=T'], true],
    ['v', ['-v4'], 4],
    ['v', ['-v=4'], 4],
    ['v', ['-v', '4'], 4],
    ['v', ['--v=4'], 4],
    ['v', ['-hv4'], 4],
    ['requestTimeoutMs', ['--request-timeout=1m30s'], 90_000],
    ['shutdownDelayDurationMs', ['--shutdown-delay-duration=1.5s'], 1500],
    ['shutdownDelayDurationMs', ['--shutdown-delay-duration=-1s'], -1000],
    ['goawayChance', ['--goaway-chance=.001'], 0.001],
    ['bindAddress', ['--bind-address=::1'], '::1'],
    ['enableAdmissionPlugins', ['--enable-admission-plugins=A,B', '--enable-admission-plugins=C'], ['A', 'B', 'C']],
    ['corsAllowedOrigins', ['--cors-allowed-origins="^a{1,2}$",b'], ['^a{1,2}$', 'b']],
    ['oidcSigningAlgs', ['--oidc-signing-algs=ES256'], ['ES256']],
    ['etcdServers', ['--etcd-servers='], []],
    ['serviceAccountIssuer', ['--service-account-issuer=a,b', '--service-account-issuer=c'], ['a,b', 'c']],
    ['tlsCurvePreferences', ['--tls-curve-preferences=23,29'], [23, 29]],
    [
      'runtimeConfig',
      ['--runtime-config=api/all=true, v1 ,x/y=false'],
      new Map([
        ['api/all', 'true'],
        ['v1', ''],
        ['x/y', 'false'],
      ]),
    ],
    [
      'oidcRequiredClaim',
      ['--oidc-required-claim=a=b,c', '--oidc-required-claim=d=e'],
      new Map([
        ['a', 'b,c'],
        ['d', 'e'],
      ]),
    ],
    [
      'featureGates',
      ['--feature-gates=A=true,kube:B=false'],
      new Map([
        ['', ['A=true']],
        ['kube', ['B=false']],
      ]),
    ],
    ['allowMetricLabels', ['--allow-metric-labels=m,l=v1,v2'], new Map([['m,l', 'v1,v2']])],
    [
      'allowMetricLabels',
      ['--allow-metric-labels="m,l=v1","n,k=v2"'],
      new Map([
        ['m,l', 'v1'],
        ['n,k', 'v2'],
      ]),
    ],
    ['serviceNodePortRange', ['--service-node-port-range=30000+10'], { first: 30_000, last: 30_010 }],
    ['serviceNodePortRange', ['--service-node-port-range=80'], { first: 80, last: 80 }],
    [
      'tlsSniCertKey',
      ['--tls-sni-cert-key=a.crt,a.key:*.a.com,a.com', '--tls-sni-cert-key=b.crt,b.key'],
      [
        { certFile: 'a.crt', keyFile: 'a.key', names: ['*.a.com', 'a.com'] },
        { certFile: 'b.crt', keyFile: 'b.key', names: [] },
      ],
    ],
    ['vmodule', ['--vmodule=a=1,b*=2'], 'a=1,b*=2'],
    ['logTextInfoBufferSize', ['--log-text-info-buffer-size=2Ki'], '2Ki'],
    ['version', ['--version'], 'true'],
    ['version', ['--version=raw'], 'raw'],
  ])('%s from %j', (name, args, expected) => {
    expect(valueOf(name, ...args)).toEqual(expected);
  });

  test('keys of maps are just keys', () => {
    const map = valueOf('runtimeConfig', '--runtime-config=__proto__=true,constructor=false');
    expect([...map]).toEqual([
      ['__proto__', 'true'],
      ['constructor', 'false'],
    ]);
  });
});

describe('what is wrong is said in one line', () => {
  test.each<[string[], string]>([
    [['--secure-prot=1'], 'unknown flag: --secure-prot; did you mean --secure-port?'],
    [['--nope'], 'unknown flag: --nope; `binnacle help serve` lists all flags'],
    [['--etcd-server', 'x'], 'unknown flag: --etcd-server; did you mean --etcd-servers?'],
    [['-x'], "unknown shorthand flag: 'x' in -x; known are -v and -h"],
    [['--secure-port'], 'flag needs an argument: --secure-port'],
    [['-v'], "flag needs an argument: 'v' in -v"],
    [['---x'], 'bad flag syntax: ---x'],
    [['--=x'], 'bad flag syntax: --=x'],
    [['--secure-port=x'], 'invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax'],
    [
      ['--secure-port=9007199254740993'],
      'invalid argument "9007199254740993" for "--secure-port" flag: strconv.ParseInt: parsing "9007199254740993": value out of range',
    ],
    [['--anonymous-auth=maybe'], 'invalid argument "maybe" for "--anonymous-auth" flag: strconv.ParseBool: parsing "maybe": invalid syntax'],
    [['--request-timeout=1'], 'invalid argument "1" for "--request-timeout" flag: time: missing unit in duration "1"'],
    [['--bind-address=300.0.0.1'], 'invalid argument "300.0.0.1" for "--bind-address" flag: failed to parse IP: "300.0.0.1"'],
    [['--service-node-port-range=2-1'], 'invalid argument "2-1" for "--service-node-port-range" flag: end port cannot be less than start port: 2-1'],
    [
      ['--service-node-port-range=1-70000'],
      'invalid argument "1-70000" for "--service-node-port-range" flag: the port range cannot be greater than 65535: 1-70000',
    ],
    [['--tls-sni-cert-key=a'], 'invalid argument "a" for "--tls-sni-cert-key" flag: expected comma separated certificate and key file paths'],
    [['--oidc-required-claim=a'], 'invalid argument "a" for "--oidc-required-claim" flag: malformed pair, expect string=string'],
    [['--v=x'], 'invalid argument "x" for "-v, --v" flag: strconv.ParseInt: parsing "x": invalid syntax'],
  ])('%j', (args, message) => {
    expect(errorOf(...args)).toBe(message);
  });
});

describe('beside the values', () => {
  test('positional arguments are handed back, also what stands behind --', () => {
    expect(parseFlags(['a', '--v=1', '-', '--', '--b']).positional).toEqual(['a', '-', '--b']);
  });

  test('which flags were given is known', () => {
    expect([...parseFlags(['--v=1', '--bind_address=::']).given]).toEqual(['v', 'bind-address']);
  });

  test('a deprecated flag and one without effect warn, once each', () => {
    expect(parseFlags(['--admission-control=A', '--watch-cache', '--watch-cache=false']).warnings).toEqual([
      'Flag --admission-control has been deprecated, Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.',
      '--watch-cache has no effect here: every resource is cached, at the size it needs',
    ]);
  });
});
