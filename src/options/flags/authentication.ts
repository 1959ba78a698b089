import { flag, flagSet } from './flag.ts';
import { bool, duration, file, singlePairMap, string, stringArray, strings } from './types.ts';

export const authentication = flagSet('authentication', {
  'anonymous-auth': flag(
    bool,
    'Treat requests that no authenticator knows as system:anonymous of the group system:unauthenticated. Always off with the AlwaysAllow authorizer.',
    { default: true },
  ),
  'api-audiences': flag(strings, 'Names of this API: a service account token must be meant for one of them. Default: the first --service-account-issuer.'),
  'authentication-config': flag(file, 'File that configures JWT and anonymous authentication.'),
  'authentication-token-webhook-cache-ttl': flag(duration, 'How long answers of the token webhook are remembered.', { default: 120_000 }),
  'authentication-token-webhook-config-file': flag(file, 'Kubeconfig of the server that is asked whose a bearer token is.'),
  'authentication-token-webhook-version': flag(string, 'API version of the TokenReviews that it is sent.', { default: 'v1beta1' }),
  'client-ca-file': flag(
    file,
    'Certificate authorities of clients: a certificate signed by one of them makes its common name the user and its organizations the groups.',
  ),
  'enable-bootstrap-token-auth': flag(bool, 'Accept tokens from secrets of type bootstrap.kubernetes.io/token in kube-system.'),
  'oidc-ca-file': flag(file, 'Certificate authority of the OpenID issuer. Default: those of the host.'),
  'oidc-client-id': flag(string, 'Client ID that tokens must be meant for; needed with --oidc-issuer-url.'),
  'oidc-groups-claim': flag(string, "Claim that holds a user's groups."),
  'oidc-groups-prefix': flag(string, 'Prefix of all groups from tokens.'),
  'oidc-issuer-url': flag(string, 'URL (https) of the OpenID issuer whose tokens are accepted.'),
  'oidc-required-claim': flag(singlePairMap, 'key=value that a token must have among its claims. Repeat for more.'),
  'oidc-signing-algs': flag(strings, 'Signing algorithms accepted, comma separated: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512.', {
    default: ['RS256'],
  }),
  'oidc-username-claim': flag(string, 'Claim that holds the user name.', { default: 'sub' }),
  'oidc-username-prefix': flag(string, "Prefix of all user names from tokens. Default: the issuer's URL and #, unless the claim is email; '-' for none."),
  'requestheader-allowed-names': flag(strings, "Common names of the front proxies' certificates. Empty: any that --requestheader-client-ca-file has signed."),
  'requestheader-client-ca-file': flag(file, 'Certificate authorities of front proxies, which may name the user in headers.'),
  'requestheader-extra-headers-prefix': flag(strings, 'Prefixes of headers with extra information about the user; usually X-Remote-Extra-.'),
  'requestheader-group-headers': flag(strings, 'Headers that hold groups; usually X-Remote-Group.'),
  'requestheader-uid-headers': flag(strings, 'Headers that hold the UID of the user; usually X-Remote-Uid.'),
  'requestheader-username-headers': flag(strings, 'Headers that hold the user name; usually X-Remote-User.'),
  'service-account-extend-token-expiration': flag(bool, 'Let tokens that admission gives to pods live for up to a year.', {
    default: true,
  }),
  'service-account-issuer': flag(
    stringArray,
    'Issuer of service account tokens, best an https URL. Repeat to accept more; the first one issues. Default with the embedded and memory stores: https://kubernetes.default.svc.',
  ),
  'service-account-jwks-uri': flag(string, 'URL (https) of the key set in the issuer discovery document, where it is not this server.'),
  'service-account-key-file': flag(
    stringArray,
    'File with PEM keys, private or public, that verify service account tokens. Repeat for more. Default with the embedded and memory stores: the signing key.',
  ),
  'service-account-lookup': flag(bool, 'Refuse tokens whose service account or secret is gone.', { default: true }),
  'service-account-max-token-expiration': flag(duration, 'How long an issued token lives at most: 1h to 2^32 seconds. 0: no limit.'),
  'token-auth-file': flag(file, 'CSV file of bearer tokens: token,user,uid,"group1,group2".'),
});
