import { negotiateInput, negotiateOutput } from '../../src/endpoints/negotiation.ts';
import { decodeContinue, encodeContinue } from '../../src/registry/continue-token.ts';
import { parseRequestInfo } from '../../src/server/request-info.ts';
import { firstQueryValue, splitTarget } from '../../src/server/request-target.ts';
import { reencodedPath, sortedQuery } from '../../src/serving/proxy/go-url.ts';
import { ApiError } from '../../src/api/errors.ts';
import { parseGoRequestUri, parseGoUrl } from '../../src/net/go-url.ts';
import { type FuzzTarget, WrongAnswer } from '../target.ts';

const PATH_TOKENS = [
  '/',
  '//',
  '..',
  '.',
  '%2e',
  '%2f',
  '%00',
  '%',
  '%zz',
  '?',
  '&',
  '=',
  ';',
  '#',
  '/api',
  '/apis',
  '/v1',
  '/namespaces',
  '/pods',
  '/watch',
  '/proxy',
  'watch=true',
  'fieldSelector=metadata.name%3Da',
  'labelSelector=a+in+(b)',
  '+',
  '\u00e9',
  '*',
];

/** What a request is about. An encoded slash never makes a name of two segments. Names such as `..` pass here: this target does not look at what becomes of them. */
export const requestInfo: FuzzTarget = {
  name: 'request-info',
  seeds: () => [
    '/api/v1/namespaces/default/pods/a/log?container=b&follow=true',
    '/apis/apps/v1/deployments?watch=true&fieldSelector=metadata.name%3Da&labelSelector=a%20in%20(b,c)',
    '/api/v1/watch/namespaces/default/pods/a',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Ab',
    '/healthz/etcd?verbose&timeout=1s',
  ],
  tokens: PATH_TOKENS,
  refusals: [ApiError],
  run(input) {
    const target = input.toString('latin1');
    firstQueryValue(splitTarget(target).query, 'timeout');
    const { name, namespace, isResourceRequest } = parseRequestInfo('GET', target);
    if (isResourceRequest && [name, namespace].some((part) => part.includes('/'))) throw new WrongAnswer(`the name ${JSON.stringify([name, namespace])}`);
  },
};

export const urls: FuzzTarget = {
  name: 'urls',
  seeds: () => ['https://user:pass@example.org:443/a/b?c=d#e', 'http://[::1%25eth0]:80/', '/a%2fb?x', '//host/path', 'mailto:a@b', 'a=b&c=%20&d'],
  tokens: [...PATH_TOKENS, 'https://', '@', ':', '[', ']', '::', '80'],
  refusals: [],
  run(input) {
    const text = input.toString();
    parseGoUrl(text);
    parseGoRequestUri(text);
    sortedQuery(text);
    reencodedPath(text);
  },
};

/** `Accept` and `Content-Type`. */
export const mediaTypes: FuzzTarget = {
  name: 'media-types',
  seeds: () => [
    'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    'application/vnd.kubernetes.protobuf;q=0.5, */*',
    'application/yaml; charset=utf-8',
    'text/*;q=x',
  ],
  tokens: [',', ';', '=', '/', '*', '*/*', 'q=', 'as=Table', 'application/json', ' ', '"', ';stream=watch', '\t'],
  refusals: [ApiError],
  run(input) {
    const text = input.toString('latin1');
    try {
      negotiateInput(text, true);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    negotiateOutput(text, { isResource: true, isCustom: false, mayStream: true });
    negotiateOutput(text, { isResource: true, isCustom: true, mayStream: false, hasNoTable: true });
  },
};

const PREFIX = '/registry/pods/default/';

/** A token never leads out of what its list is of. */
export const continueToken: FuzzTarget = {
  name: 'continue-token',
  seeds: () => [
    encodeContinue(`${PREFIX}abc`, PREFIX, 1234),
    '{"v":"meta.k8s.io/v1","rv":5,"start":"/a\\u0000"}',
    ...['..', '/../x', 'a/./b', '/a/b'].map((start) => Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 5, start })).toString('base64url')),
  ],
  tokens: ['..', '/', '\\u002e', '\\u002f', 'Li4', 'Ly4u', 'e30', '-', '_', '=', 'AAAA'],
  refusals: [ApiError],
  run(input) {
    // The token's text, or the bytes that a token holds.
    const { startKey } = decodeContinue(input[0] === 0x7b ? input.toString('base64url') : input.toString(), PREFIX);
    if (!startKey.startsWith(PREFIX) || startKey.split('/').includes('..')) throw new WrongAnswer(`a list that begins at ${startKey}`);
  },
};
