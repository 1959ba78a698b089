import { validateDomainPrefixedPath } from '../api/domain-prefixed-path.ts';
import { FieldErrors } from '../api/field-errors.ts';
import { parseCertificates } from '../serving/certificates/pem.ts';
import type {
  AuthenticationConfiguration,
  ClaimMappings,
  ClaimValidationRule,
  IssuerConfiguration,
  JwtConfiguration,
  PrefixedClaim,
} from './authentication-configuration.ts';
import type { ExpressionCompiler, ClaimResult } from './expressions.ts';

export interface ValidationOptions {
  /** This server's own issuers, whose tokens are authenticated elsewhere. */
  disallowedIssuers: readonly string[];
  /** The gate StructuredAuthenticationConfigurationEgressSelector. */
  allowsEgressSelector: boolean;
  compile: ExpressionCompiler;
}

const MAX_ISSUERS = 64;

/** All that is wrong, in upstream's words and order (apiserver/pkg/apis/apiserver/validation). */
export function validateAuthenticationConfiguration({ jwt = [], anonymous }: AuthenticationConfiguration, options: ValidationOptions): FieldErrors {
  const errors = new FieldErrors();
  const root = errors.at('jwt');
  if (jwt.length > MAX_ISSUERS) {
    root.tooMany(jwt.length, MAX_ISSUERS);
    return errors;
  }
  const [issuers, discoveryUrls] = [new Set<string>(), new Set<string>()];
  for (const [index, configuration] of jwt.entries()) {
    const at = root.index(index);
    validateJwt(configuration, at, options);
    const { url = '', discoveryURL = '' } = configuration.issuer ?? {};
    if (issuers.has(url)) at.at('issuer', 'url').duplicate(url);
    issuers.add(url);
    if (discoveryURL !== '' && discoveryUrls.has(discoveryURL)) at.at('issuer', 'discoveryURL').duplicate(discoveryURL);
    discoveryUrls.add(discoveryURL);
  }
  if (anonymous && !anonymous.enabled && anonymous.conditions?.length)
    errors.at('anonymous', 'conditions').invalid(anonymous.conditions, 'enabled should be set to true when conditions are defined');
  return errors;
}

function validateJwt(
  { issuer = {}, claimValidationRules = [], claimMappings = {}, userValidationRules = [] }: JwtConfiguration,
  errors: FieldErrors,
  options: ValidationOptions,
): void {
  validateIssuer(issuer, errors.at('issuer'), options);
  validateClaimRules(claimValidationRules, errors.at('claimValidationRules'), options);
  validateMappings(claimMappings, errors.at('claimMappings'), options);
  validateEmail({ claimMappings, claimValidationRules }, errors.at('claimMappings', 'username', 'expression'), options);
  const seen = new Set<string>();
  for (const [index, { expression = '' }] of userValidationRules.entries()) {
    const at = errors.at('userValidationRules').index(index).at('expression');
    if (expression === '') at.required();
    else if (seen.has(expression)) at.duplicate(expression);
    else tryExpression(expression, 'user', 'bool', at, options);
    seen.add(expression);
  }
}

function validateIssuer(issuer: IssuerConfiguration, errors: FieldErrors, { disallowedIssuers, allowsEgressSelector }: ValidationOptions): void {
  const { url = '', discoveryURL = '', certificateAuthority = '', egressSelectorType = '' } = issuer;
  if (url === '') errors.at('url').required();
  else validateUrl(url, disallowedIssuers, errors.at('url'));
  if (discoveryURL !== '') {
    const at = errors.at('discoveryURL');
    if (url !== '' && withoutSlashes(url) === withoutSlashes(discoveryURL)) at.invalid(discoveryURL, 'discoveryURL must be different from URL');
    validateUrl(discoveryURL, [], at);
  }
  validateAudiences(issuer, errors);
  if (certificateAuthority !== '' && !isBundle(certificateAuthority))
    errors.at('certificateAuthority').invalid('<omitted>', 'data does not contain any valid RSA or ECDSA certificates');
  if (egressSelectorType !== '') validateEgressSelector(egressSelectorType, errors.at('egressSelectorType'), allowsEgressSelector);
}

function validateEgressSelector(type: string, errors: FieldErrors, isAllowed: boolean): void {
  if (!isAllowed) errors.invalid(type, 'egress selector is not supported when StructuredAuthenticationConfigurationEgressSelector feature gate is disabled');
  if (type !== 'controlplane' && type !== 'cluster') errors.invalidTyped(type, 'egress selector must be either controlplane or cluster');
}

const withoutSlashes = (text: string): string => text.replace(/\/+$/, '');

function isBundle(pem: string): boolean {
  try {
    return parseCertificates(pem).length > 0;
  } catch {
    return false;
  }
}

function validateUrl(text: string, disallowed: readonly string[], errors: FieldErrors): void {
  if (disallowed.includes(text)) errors.invalid(text, `URL must not overlap with disallowed issuers: [${disallowed.toSorted().join(' ')}]`);
  if (!URL.canParse(text)) {
    errors.invalid(text, text.includes('://') ? `parse ${JSON.stringify(text)}: invalid URL` : 'URL scheme must be https');
    return;
  }
  const url = new URL(text);
  if (url.protocol !== 'https:') errors.invalid(text, 'URL scheme must be https');
  if (url.username !== '' || url.password !== '') errors.invalid(text, 'URL must not contain a username or password');
  if (url.search !== '') errors.invalid(text, 'URL must not contain a query');
  if (url.hash !== '') errors.invalid(text, 'URL must not contain a fragment');
}

function validateAudiences({ audiences = [], audienceMatchPolicy = '' }: IssuerConfiguration, errors: FieldErrors): void {
  const at = errors.at('audiences');
  if (audiences.length === 0) {
    at.required(`at least one ${at.path} is required`);
    return;
  }
  const seen = new Set<string>();
  for (const [index, audience] of audiences.entries()) {
    if (audience === '') at.index(index).required();
    if (seen.has(audience)) at.index(index).duplicate(audience);
    seen.add(audience);
  }
  const policy = errors.at('audienceMatchPolicy');
  if (audiences.length > 1 && audienceMatchPolicy !== 'MatchAny')
    policy.invalidTyped(audienceMatchPolicy, 'audienceMatchPolicy must be MatchAny for multiple audiences');
  if (audiences.length === 1 && audienceMatchPolicy !== '' && audienceMatchPolicy !== 'MatchAny')
    policy.invalidTyped(audienceMatchPolicy, 'audienceMatchPolicy must be empty or MatchAny for single audience');
}

function validateClaimRules(rules: readonly ClaimValidationRule[], errors: FieldErrors, options: ValidationOptions): void {
  const [claims, expressions] = [new Set<string>(), new Set<string>()];
  for (const [index, { claim = '', requiredValue = '', expression = '', message = '' }] of rules.entries()) {
    const at = errors.index(index);
    if (claim !== '' && expression !== '') at.invalid(claim, "claim and expression can't both be set");
    else if (claim !== '') {
      if (message !== '') at.at('message').invalid(message, 'may not be specified when claim is set');
      if (claims.has(claim)) at.at('claim').duplicate(claim);
      claims.add(claim);
    } else if (expression !== '') {
      if (requiredValue !== '') at.at('requiredValue').invalid(requiredValue, 'may not be specified when expression is set');
      if (expressions.has(expression)) at.at('expression').duplicate(expression);
      else tryExpression(expression, 'claims', 'bool', at.at('expression'), options);
      expressions.add(expression);
    } else at.required('claim or expression is required');
  }
}

function validateMappings({ username = {}, groups = {}, uid = {}, extra = [] }: ClaimMappings, errors: FieldErrors, options: ValidationOptions): void {
  validatePrefixed(username, errors.at('username'), options);
  if (!username.claim && !username.expression) errors.at('username').required('claim or expression is required');
  validatePrefixed(groups, errors.at('groups'), options);
  if (uid.claim && uid.expression) errors.at('uid').invalid('', "claim and expression can't both be set");
  else if (uid.expression) tryExpression(uid.expression, 'claims', 'any', errors.at('uid', 'expression'), options);
  const keys = new Set<string>();
  for (const [index, { key = '', valueExpression = '' }] of extra.entries()) {
    const at = errors.at('extra').index(index);
    validateExtraKey(key, at.at('key'));
    if (keys.has(key)) at.at('key').duplicate(key);
    else if (valueExpression === '') at.at('valueExpression').required();
    else tryExpression(valueExpression, 'claims', 'any', at.at('valueExpression'), options);
    keys.add(key);
  }
}

function validatePrefixed({ claim = '', prefix, expression = '' }: PrefixedClaim, errors: FieldErrors, options: ValidationOptions): void {
  if (claim !== '' && expression !== '') errors.invalid('', "claim and expression can't both be set");
  else if (expression !== '') {
    if (prefix !== undefined) errors.at('prefix').invalid(prefix, 'may not be specified when expression is set');
    tryExpression(expression, 'claims', 'any', errors.at('expression'), options);
  } else if (claim !== '' && prefix === undefined)
    errors.at('prefix').required('prefix is required when claim is set. It can be set to an empty string to disable prefixing');
}

const RESERVED_DOMAIN = /(^|\.)(kubernetes|k8s)\.io$/;

/** `example.org/foo`, in lower case, of a domain that is not Kubernetes' own. */
function validateExtraKey(key: string, errors: FieldErrors): void {
  validateDomainPrefixedPath(key, errors);
  if (key !== key.toLowerCase()) errors.invalid(key, 'must be lowercase');
  if (RESERVED_DOMAIN.test(key.slice(0, Math.max(key.indexOf('/'), 0))))
    errors.invalid(key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use');
}

const UNVERIFIED_EMAIL =
  'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression';

/** An address that its issuer could not verify says nothing of who it is. */
function validateEmail({ claimMappings = {}, claimValidationRules = [] }: JwtConfiguration, errors: FieldErrors, { compile }: ValidationOptions): void {
  const doesSelect = (text: string | undefined, field: string): boolean => {
    try {
      return text !== undefined && text !== '' && compile(text, 'claims', 'any').selects(field);
    } catch {
      return false;
    }
  };
  const username = claimMappings.username?.expression;
  if (!doesSelect(username, 'email')) return;
  const places = [
    username,
    ...(claimMappings.extra ?? []).map(({ valueExpression }) => valueExpression),
    ...claimValidationRules.map(({ expression }) => expression),
  ];
  if (!places.some((text) => doesSelect(text, 'email_verified'))) errors.invalid(username, UNVERIFIED_EMAIL);
}

function tryExpression(text: string, variable: 'claims' | 'user', result: ClaimResult, errors: FieldErrors, { compile }: ValidationOptions): void {
  try {
    compile(text, variable, result);
  } catch (error) {
    errors.invalid(text, (error as Error).message);
  }
}
