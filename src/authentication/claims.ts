import { ownValue } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import type { User } from '../api/user.ts';
import type { ClaimMappings, JwtConfiguration } from './authentication-configuration.ts';
import type { ClaimExpression, ExpressionCompiler } from './expressions.ts';

/** Makes a user of a token's claims, or throws an Error that says which of them stands against it. */
export type ClaimReader = (claims: JsonObject) => User;

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/** What a configuration that was found valid says (apiserver/plugin/pkg/authenticator/token/oidc). Mappings come first, then the rules, as upstream has it. */
export function claimReader(
  { claimMappings = {}, claimValidationRules = [], userValidationRules = [] }: JwtConfiguration,
  compile: ExpressionCompiler,
): ClaimReader {
  const username = usernameMapping(claimMappings, compile);
  const groups = groupsMapping(claimMappings, compile);
  const uid = uidMapping(claimMappings, compile);
  const extra = extraMapping(claimMappings, compile);
  const required = claimValidationRules.filter(({ claim }) => claim).map(({ claim, requiredValue = '' }) => ({ claim: claim!, requiredValue }));
  const claimRules = claimValidationRules.flatMap(({ expression, message = '' }) =>
    expression ? [{ text: expression, message, holds: compile(expression, 'claims', 'bool') }] : [],
  );
  const userRules = userValidationRules.flatMap(({ expression, message = '' }) =>
    expression ? [{ text: expression, message, holds: compile(expression, 'user', 'bool') }] : [],
  );
  return (claims) => {
    const name = username(claims);
    const groupList = groups(claims);
    const id = uid(claims);
    const extras = extra(claims);
    for (const rule of required) checkRequired(claims, rule);
    for (const rule of claimRules) checkRule('oidc: error evaluating claim validation expression', rule, claims);
    const user: User = { name, ...(id !== '' && { uid: id }), groups: groupList, ...(extras.size > 0 && { extra: Object.fromEntries(extras) }) };
    if (userRules.length > 0) checkUser(user, userRules);
    return user;
  };
}

interface Rule {
  text: string;
  message: string;
  holds: ClaimExpression;
}

/** Every field is there, empty or not. */
function checkUser({ name, uid, groups, extra }: User, rules: readonly Rule[]): void {
  const value: JsonObject = { username: name, uid: uid ?? '', groups, extra: extra ?? {} };
  for (const rule of rules) checkRule('oidc: error evaluating user info validation rule', rule, value);
}

function checkRule(failure: string, { text, message, holds }: Rule, value: JsonObject): void {
  const answer = evaluate(failure, holds, value);
  if (answer !== true)
    throw new Error(
      `${failure}: ${typeof answer === 'boolean' ? `validation expression '${text}' failed: ${message}` : 'validation expression must return a boolean'}`,
    );
}

function evaluate(failure: string, expression: ClaimExpression, value: JsonObject): Json {
  try {
    return expression.evaluate(value);
  } catch (error) {
    throw new Error(`${failure}: ${(error as Error).message}`, { cause: error });
  }
}

function checkRequired(claims: JsonObject, { claim, requiredValue }: { claim: string; requiredValue: string }): void {
  const value = ownValue(claims, claim);
  if (value === undefined) throw new Error(`oidc: required claim ${claim} not present in ID token`);
  const text = textOf(value, `oidc: parse claim ${claim}`);
  if (text !== requiredValue) throw new Error(`oidc: required claim ${claim} value does not match. Got = ${text}, want = ${requiredValue}`);
}

function usernameMapping({ username = {} }: ClaimMappings, compile: ExpressionCompiler): (claims: JsonObject) => string {
  const { claim = '', prefix = '', expression } = username;
  if (expression) return usernameExpression(compile(expression, 'claims', 'any'));
  return (claims) => {
    const name = neededText(claims, claim, `oidc: parse username claims "${claim}"`);
    if (claim === 'email') checkEmail(claims);
    if (name === '') throw new Error(`oidc: parse username claims "${claim}": it is empty`);
    return prefix + name;
  };
}

const usernameExpression =
  (expression: ClaimExpression) =>
  (claims: JsonObject): string => {
    const failure = 'oidc: error evaluating username claim expression';
    const name = evaluate(failure, expression, claims);
    if (typeof name !== 'string') throw new Error(`${failure}: username claim expression must return a string`);
    if (name === '') throw new Error('oidc: empty username via CEL expression is not allowed');
    return name;
  };

/** An address that its issuer could not verify says nothing of who it is. */
function checkEmail(claims: JsonObject): void {
  const isVerified = ownValue(claims, 'email_verified');
  if (isVerified === undefined) return;
  if (typeof isVerified !== 'boolean') throw new Error(`oidc: parse 'email_verified' claim: ${mismatch(isVerified, 'bool')}`);
  if (!isVerified) throw new Error('oidc: email not verified');
}

function groupsMapping({ groups = {} }: ClaimMappings, compile: ExpressionCompiler): (claims: JsonObject) => string[] {
  const { claim, prefix = '', expression } = groups;
  if (expression) {
    const compiled = compile(expression, 'claims', 'any');
    const failure = 'oidc: error evaluating group claim expression';
    return (claims) => textList(evaluate(failure, compiled, claims), failure);
  }
  if (!claim) return () => [];
  return (claims) => {
    const value = ownValue(claims, claim);
    if (value === undefined || value === null) return [];
    const list = Array.isArray(value) ? value : [value];
    return list.map((group) => prefix + textOf(group, `oidc: parse groups claim "${claim}"`));
  };
}

function uidMapping({ uid = {} }: ClaimMappings, compile: ExpressionCompiler): (claims: JsonObject) => string {
  const { claim, expression } = uid;
  if (claim) return (claims) => neededText(claims, claim, `oidc: parse uid claim "${claim}"`);
  if (!expression) return () => '';
  const compiled = compile(expression, 'claims', 'any');
  const failure = 'oidc: error evaluating uid claim expression';
  return (claims) => {
    const value = evaluate(failure, compiled, claims);
    if (typeof value !== 'string') throw new Error(`${failure}: uid claim expression must return a string`);
    return value;
  };
}

function extraMapping({ extra = [] }: ClaimMappings, compile: ExpressionCompiler): (claims: JsonObject) => Map<string, string[]> {
  const mappings = extra.map(({ key = '', valueExpression = '' }) => ({ key, valueExpression, compiled: compile(valueExpression, 'claims', 'any') }));
  return (claims) => {
    const result = new Map<string, string[]>();
    const id = ownValue(claims, 'jti');
    if (typeof id === 'string' && id !== '') result.set(CREDENTIAL_ID, [`JTI=${id}`]);
    for (const { key, valueExpression, compiled } of mappings) {
      const failure = `oidc: error evaluating extra claim expression: ${valueExpression}`;
      const values = textList(evaluate(failure, compiled, claims), failure);
      if (values.length > 0) result.set(key, values);
    }
    return result;
  };
}

/** A text, or a list of them; empty ones are none. */
function textList(value: Json, failure: string): string[] {
  const list = value === null ? [] : Array.isArray(value) ? value : [value];
  if (!list.every((item) => typeof item === 'string')) throw new Error(`${failure}: expression must return a string or a list of strings`);
  return list.filter((item) => item !== '');
}

function neededText(claims: JsonObject, claim: string, failure: string): string {
  const value = ownValue(claims, claim);
  if (value === undefined) throw new Error(`${failure}: claim not present`);
  return textOf(value, failure);
}

function textOf(value: Json, failure: string): string {
  if (typeof value !== 'string') throw new Error(`${failure}: ${mismatch(value, 'string')}`);
  return value;
}

const KINDS: Record<string, string> = { number: 'number', bigint: 'number', boolean: 'bool', string: 'string' };

/** As Go's decoder says it. */
function mismatch(value: Json, wanted: string): string {
  const kind = KINDS[typeof value] ?? (Array.isArray(value) ? 'array' : value === null ? 'null' : 'object');
  return `json: cannot unmarshal ${kind} into Go value of type ${wanted}`;
}
