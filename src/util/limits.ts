/** One row of docs/limits.md. */
export interface Limit {
  value: number;
  counts: string;
  /** What the client is told that goes beyond it. */
  answer: string;
  /** Upstream's limit for the same thing; undefined where it has none. */
  upstream?: string;
}

/**
 * What a client's input may amount to, in lists, rules, patches, patterns and the work that they ask for. Limits of Kubernetes' own validation (so many
 * tolerations, so many bytes of a name) stand with the kinds; these are the ones that keep a request from holding the thread that serves everybody, set far
 * above what is in use. `docs/limits.md` is made from this table.
 */
export const LIMIT_TABLE = {
  urlCharacters: {
    value: 256 * 1024,
    counts: "characters of a request's path and query",
    answer: '414',
    upstream: '1 MiB for the whole head of a request',
  },
  queryParameters: { value: 10_000, counts: 'parameters of a query', answer: '400 BadRequest', upstream: "10,000 (Go's net/url)" },
  durationCharacters: { value: 1_000, counts: 'characters of a duration (`1h2m3s`)', answer: 'as for any text that is no duration' },
  selectorRequirements: { value: 1_000, counts: 'requirements of a label or field selector in a query', answer: '400 BadRequest' },
  selectorValues: { value: 10_000, counts: 'values of the `in (…)` of a label selector in a query, all together', answer: '400 BadRequest' },
  shardRanges: { value: 1_000, counts: 'ranges of a `shardSelector`', answer: '500' },
  selectorErrors: { value: 100, counts: 'invalid values that the refusal of a label selector names', answer: 'the first so many' },
  acceptClauses: { value: 64, counts: 'media types of an `Accept` header that are looked at', answer: 'the others are not looked at' },
  bodyBytes: { value: 3 * 1024 * 1024, counts: "bytes of a request's body", answer: '413 RequestEntityTooLarge', upstream: '3 MiB' },
  bodyDepth: { value: 1_000, counts: 'values inside of each other in a body', answer: '400 BadRequest', upstream: '10,000' },
  numberCharacters: { value: 10_000, counts: 'characters of a number in a body of JSON', answer: '413 RequestEntityTooLarge' },
  yamlTokens: {
    value: 100_000,
    counts: 'tokens of a body of YAML; of texts beyond 1,000 characters, each line counts as two, and four characters of a quoted one that is no JSON as one',
    answer: '413 RequestEntityTooLarge',
  },
  yamlDepth: { value: 300, counts: 'lists and maps inside of each other in a body of YAML that is no JSON', answer: '400 BadRequest', upstream: '10,000' },
  yamlPlainCharacters: { value: 1_500_000, counts: 'characters of a text without quotes, in a line of a body of YAML', answer: '413 RequestEntityTooLarge' },
  yamlAliasedCharacters: {
    value: 3 * 1024 * 1024,
    counts: 'characters that the aliases of a body of YAML repeat',
    answer: '400 BadRequest',
    upstream: 'a share of the document (go-yaml)',
  },
  strictErrors: {
    value: 100,
    counts: 'unknown and repeated fields that a request is told of',
    answer: 'the first so many',
    upstream: '100; none for unknown fields of custom resources',
  },
  applyErrors: { value: 10_000, counts: 'fields of an applied object that the refusal names because of their type', answer: 'the first so many' },
  applyErrorCharacters: { value: 1024 * 1024, counts: 'characters of what such a refusal says of them', answer: 'the first so many' },
  watchBacklogEvents: { value: 10_000, counts: 'changes that a watch may be behind', answer: 'the watch ends' },
  watchBacklogBytes: { value: 16 * 1024 * 1024, counts: 'bytes of changes that a watch may be behind', answer: 'the watch ends' },
  bodyValues: {
    value: 100_000,
    counts:
      'values (fields, items, scalars) of a body, or that a JSON patch copies; lists and objects once more for each hundred others that they are inside of; keys of an object beyond its first thousand five times',
    answer: '413 RequestEntityTooLarge',
  },
  cborValues: { value: 50_000, counts: 'values of a body of CBOR', answer: '413 RequestEntityTooLarge' },
  jsonPatchOperations: { value: 10_000, counts: 'operations of a JSON patch', answer: '413 RequestEntityTooLarge', upstream: '10,000' },
  jsonPatchCopiedBytes: {
    value: 3 * 1024 * 1024,
    counts: 'bytes that the `copy` operations of a JSON patch add',
    answer: '422 Invalid',
    upstream: "3 MiB (the body's limit)",
  },
  jsonPatchSteps: {
    value: 1_000_000,
    counts: 'steps of a JSON patch: those of its paths, five each, and items of lists that make room for others, a hundredth each',
    answer: '413 RequestEntityTooLarge',
  },
  strategicMergeSteps: {
    value: 350_000,
    counts:
      'fields that a strategic merge patch goes through, and items of lists, ten each, or five where they are no objects; those of an item that is patched again once more',
    answer: '413 RequestEntityTooLarge',
  },
  jsonPathCharacters: { value: 4_096, counts: 'characters of the JSONPath of a column or a selectable field', answer: '422 Invalid, or nothing found' },
  jsonPathSteps: {
    value: 50_000,
    counts: "values that the JSONPaths of a custom resource's columns look at in one object",
    answer: 'empty cells from there on',
  },
  celTokens: {
    value: 8_000,
    counts: 'tokens (names, literals, operators, brackets) of a CEL expression',
    answer: 'as for any expression that does not compile',
    upstream: '100,000 characters, which hold here too',
  },
  claimExpressionCharacters: {
    value: 256 * 1024,
    counts: 'characters of the CEL expressions of a ResourceClaim, all together',
    answer: '422 Invalid',
    upstream: '10 KiB for each of up to 8,192',
  },
  regexpCharacters: {
    value: 100_000,
    counts: 'characters of a regular expression',
    answer: 'as for any invalid pattern: `expression too large`',
    upstream: '128 MiB of program (Go)',
  },
  regexpProgramSteps: {
    value: 100_000,
    counts: 'steps of the program that a regular expression is compiled to, its repetitions multiplied',
    answer: 'as for any invalid pattern: `expression too large`',
    upstream: '3,355,443 (Go)',
  },
  regexpClassRanges: {
    value: 100_000,
    counts: 'ranges of characters in the classes of a regular expression',
    answer: 'as for a pattern that takes too many steps',
    upstream: '33,554,432 characters (Go)',
  },
  regexpStepsOfExpression: {
    value: 2_000_000,
    counts: 'steps of all regular expressions in one evaluation of a CEL expression; steps beyond what their cost stands for are charged, ten units each',
    answer: 'as for any expression that exceeds its cost limit',
  },
  schemaSteps: {
    value: 400_000,
    counts:
      "steps of validating a custom resource by its schema: one for each value, eleven for each alternative that it is held against, and those of the schema's patterns",
    answer: '422 Invalid',
  },
  defaultedValues: {
    value: 50_000,
    counts: 'values that the defaults of its schema add to a custom resource that is written',
    answer: '413 RequestEntityTooLarge',
  },
  ownedItems: {
    value: 15_000,
    counts: 'items of lists and keys of maps of one object that are owned one by one (managedFields)',
    answer: 'the object is stored without managedFields; a server-side apply: 413 RequestEntityTooLarge',
    upstream: 'without managedFields where it is too large for the store with them',
  },
  ownedFields: {
    value: 30_000,
    counts: 'fields of items of lists and maps of one object that are owned one by one',
    answer: 'the object is stored without managedFields; a server-side apply: 413 RequestEntityTooLarge',
    upstream: 'without managedFields where it is too large for the store with them',
  },
  fieldErrors: { value: 1_000, counts: 'field errors that a refusal tells of', answer: 'the first so many' },
  fieldErrorCharacters: { value: 256 * 1024, counts: 'characters of the field errors that a refusal tells of', answer: 'the first so many' },
  shownCharacters: {
    value: 256 * 1024,
    counts: "characters of a value that a message shows in Go's notation (`map[a:1]`), such as a patch that does not fit",
    answer: 'the first so many',
  },
  diffCharacters: {
    value: 256 * 1024,
    counts: 'characters of the old and the new value together, as JSON, whose difference the refusal of an update shows (pods, volumes, claims)',
    answer: 'the message without the difference',
  },
  diffObjects: { value: 2_000, counts: 'objects in them', answer: 'the message without the difference' },
  diffSteps: { value: 2_000_000, counts: 'steps of comparing their lines', answer: 'the message without the difference' },
  remoteOpenApiBytes: {
    value: 16 * 1024 * 1024,
    counts: 'bytes of the OpenAPI v2 document of an aggregated server',
    answer: 'its document is left out',
  },
  remoteOpenApiEntries: {
    value: 20_000,
    counts: 'paths, definitions and parameters of that document, or paths of its index of OpenAPI v3',
    answer: 'its document is left out',
  },
  remoteOpenApiEntryValues: { value: 20_000, counts: 'values of one of them', answer: 'its document is left out' },
  remoteDiscoveryBytes: { value: 4 * 1024 * 1024, counts: 'bytes of what an aggregated server or a peer says it serves', answer: 'it is taken for stale' },
  remoteResources: { value: 5_000, counts: 'groups, versions, resources and subresources in it', answer: 'it is taken for stale' },
  limitRangeAmounts: {
    value: 20_000,
    counts: 'amounts that the limit ranges of a namespace name, once for each container of a pod that is created in it',
    answer: '413 RequestEntityTooLarge',
  },
  mergedTolerations: {
    value: 500,
    counts: 'tolerations of a pod and of its namespace or runtime class together, where they are merged',
    answer: '413 RequestEntityTooLarge',
  },
  escalationSteps: {
    value: 1_000_000,
    counts: 'steps of comparing the rules of a role that is written or bound with the rules that its writer holds',
    answer: '403 Forbidden',
  },
  escalationListedRights: {
    value: 10_000,
    counts: 'rights (one verb on one resource) that the refusal of a role names; the others are counted',
    answer: 'the message ends in "… and n more"',
  },
  escalationListedCharacters: {
    value: 256 * 1024,
    counts: 'characters of the rights that the refusal of a role names',
    answer: 'the message ends in "… and n more"',
  },
  reviewedRules: {
    value: 50_000,
    counts: 'rules of a SelfSubjectRulesReview',
    answer: 'status.incomplete, with an evaluationError',
  },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMIT_TABLE;

/** The numbers alone: `LIMITS.escalationSteps`. */
export const LIMITS = Object.fromEntries(Object.entries(LIMIT_TABLE).map(([name, { value }]) => [name, value])) as Readonly<Record<LimitName, number>>;

/** docs/limits.md. */
export const limitsDocument = (): string => `# Limits of a request

One thread serves all clients, so no request may keep it. What a request brings is counted before it is looked at, and work whose amount does not show in
the request's size is counted in steps while it is done. These are the limits, beside those of Kubernetes' own validation, which hold too. Those that
upstream does not have are far above what is in use. This page is made from the table in \`src/util/limits.ts\`; a test keeps it so
(\`npx vitest run src/util/limits.test.ts -u\` writes it anew).

| limit | value | what is counted | what the client is told | upstream |
| --- | --- | --- | --- | --- |
${Object.entries<Limit>(LIMIT_TABLE)
  .map(([name, { value, counts, answer, upstream }]) => `| ${[`\`${name}\``, value.toLocaleString('en-US'), counts, answer, upstream ?? 'none'].join(' | ')} |`)
  .join('\n')}
`;
