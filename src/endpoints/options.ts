import { validateFieldManager } from '../registry/metadata.ts';
import type { DeleteOptions, ListOptions, UpdateOptions, WatchOptions, WriteOptions } from '../registry/store.ts';
import { badRequest, invalid, unknownError } from '../api/errors.ts';
import { FieldErrors } from '../api/field-errors.ts';
import { quote } from '../util/go-quote.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { queryBoolean, queryInteger } from './query.ts';
import { type SelectorScope, selectionOf } from './selection.ts';

/**
 * What clients ask for beside the object: query parameters (and, for deletions, a body) as typed options. Order of checks and wording:
 * apimachinery/pkg/apis/meta/v1/validation and .../internalversion/validation.
 */
const OPTIONS_API_VERSION = 'meta.k8s.io/v1';

const invalidOptions = (kind: string, errors: FieldErrors): Error => invalid({ group: 'meta.k8s.io', kind }, '', errors.list);

export type FieldValidation = WriteOptions['fieldValidation'];

export const parseCreateOptions = (query: URLSearchParams): WriteOptions => parseWriteOptions('CreateOptions', query);

export const parseUpdateOptions = (query: URLSearchParams): WriteOptions => parseWriteOptions('UpdateOptions', query);

/** Of PATCH; the store sees it as an update. `force`: an apply takes what others own. */
export function parsePatchOptions(query: URLSearchParams, isApply: boolean): WriteOptions & Pick<UpdateOptions, 'isApply'> & { force: boolean } {
  const options = parseWriteOptions('PatchOptions', query, (errors) => {
    if (isApply) {
      if ((query.get('fieldManager') ?? '') === '') errors.at('fieldManager').required('is required for apply patch');
    } else if (query.has('force')) errors.at('force').forbidden('may not be specified for non-apply patch');
  });
  const force = query.has('force') && queryBoolean(query, 'force');
  return { ...options, isApply, force, raw: { ...options.raw, ...(query.has('force') && { force }) } };
}

function parseWriteOptions(kind: string, query: URLSearchParams, checkFirst?: (errors: FieldErrors) => void): WriteOptions {
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const dryRun = query.getAll('dryRun');
  const errors = new FieldErrors();
  checkFirst?.(errors);
  validateFieldManager(fieldManager, errors.at('fieldManager'));
  validateDryRun(dryRun, errors);
  if (!FIELD_VALIDATIONS.includes(fieldValidation)) errors.at('fieldValidation').notSupportedString(fieldValidation, FIELD_VALIDATIONS);
  if (!errors.isEmpty) throw invalidOptions(kind, errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    raw: {
      kind,
      apiVersion: OPTIONS_API_VERSION,
      ...(dryRun.length > 0 && { dryRun }),
      ...(fieldManager !== '' && { fieldManager }),
      ...(fieldValidation !== '' && { fieldValidation }),
    },
  };
}

const FIELD_VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];

function validateDryRun(dryRun: readonly string[], errors: FieldErrors): void {
  if (dryRun.some((value) => value !== 'All')) errors.at('dryRun').notSupported(dryRun, ['All']);
}

export const UNSAFE_OPTION = 'ignoreStoreReadErrorWithClusterBreakingPotential';
/** What says how a deletion is to go has no meaning for an object that is not read. */
const UNFIT_WITH_UNSAFE = ['dryRun', 'propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'] as const;

/** DeleteOptions as decoded from a body. */
export interface DeleteOptionsObject {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  orphanDependents?: boolean;
  propagationPolicy?: string;
  dryRun?: string[];
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

/** Where a deletion has no body. */
export function deleteOptionsFromQuery(query: URLSearchParams): DeleteOptionsObject {
  const options: DeleteOptionsObject = {};
  const gracePeriodSeconds = queryInteger(query, 'gracePeriodSeconds');
  if (gracePeriodSeconds !== undefined) options.gracePeriodSeconds = gracePeriodSeconds;
  if (query.has('orphanDependents')) options.orphanDependents = queryBoolean(query, 'orphanDependents');
  const propagationPolicy = query.get('propagationPolicy');
  if (propagationPolicy !== null) options.propagationPolicy = propagationPolicy;
  if (query.has('dryRun')) options.dryRun = query.getAll('dryRun');
  if (query.has(UNSAFE_OPTION)) options[UNSAFE_OPTION] = queryBoolean(query, UNSAFE_OPTION);
  return options;
}

const PROPAGATION_POLICIES = ['Foreground', 'Background', 'Orphan'];

export function checkDeleteOptions(options: DeleteOptionsObject): DeleteOptions {
  const { orphanDependents, propagationPolicy, dryRun = [], preconditions } = options;
  const errors = new FieldErrors();
  if (propagationPolicy !== undefined) {
    const at = errors.at('propagationPolicy');
    if (orphanDependents !== undefined) at.invalidTyped(propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set');
    if (!PROPAGATION_POLICIES.includes(propagationPolicy)) at.notSupported(propagationPolicy, [...PROPAGATION_POLICIES, 'nil']);
  }
  validateDryRun(dryRun, errors);
  validateUnsafe(options, errors);
  if (!errors.isEmpty) throw invalidOptions('DeleteOptions', errors);
  return {
    dryRun: dryRun.length > 0,
    gracePeriodSeconds: options.gracePeriodSeconds,
    preconditions,
    orphanDependents,
    propagationPolicy: propagationPolicy as DeleteOptions['propagationPolicy'],
    ...(options[UNSAFE_OPTION] && { ignoresReadErrors: true }),
    raw: { kind: 'DeleteOptions', apiVersion: OPTIONS_API_VERSION, ...(options as JsonObject) },
  };
}

function validateUnsafe(options: DeleteOptionsObject, errors: FieldErrors): void {
  if (!options[UNSAFE_OPTION]) return;
  for (const field of UNFIT_WITH_UNSAFE) {
    const isSet = field === 'dryRun' ? (options.dryRun ?? []).length > 0 : options[field] !== undefined;
    if (isSet) errors.at(UNSAFE_OPTION).invalid(true, `cannot be set together with .${field}`);
  }
}

/** Of many objects at once, none may be deleted unread. */
export function refuseUnsafeCollection({ ignoresReadErrors }: DeleteOptions): void {
  if (!ignoresReadErrors) return;
  const errors = new FieldErrors();
  errors.at(UNSAFE_OPTION).invalid(true, 'is not allowed with DELETECOLLECTION, try again after removing the option');
  throw invalidOptions('DeleteOptions', errors);
}

/** GET of one object: its resourceVersion. */
export function parseGetOptions(query: URLSearchParams, isUncached: boolean): string {
  if (query.has('export') && queryBoolean(query, 'export')) throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  const resourceVersion = query.get('resourceVersion') ?? '';
  const problem = resourceVersionProblem(resourceVersion);
  // Upstream's cache lets this one escape without a reason or a code of its own; its store does not.
  if (problem !== undefined) throw isUncached ? badRequest(`invalid resource version: ${problem}`) : unknownError(problem);
  return resourceVersion;
}

/** ListOptions as the query says them, before they are told apart into a list's and a watch's. */
interface CollectionQuery {
  isWatch: boolean;
  allowBookmarks: boolean;
  resourceVersion: string;
  resourceVersionMatch: string;
  timeoutSeconds: number | undefined;
  limit: number;
  continue: string;
  sendInitialEvents: boolean | undefined;
}

/** Integers first, then selectors, since upstream decodes the query before it looks into the texts. */
function parseCollectionQuery(query: URLSearchParams): CollectionQuery {
  return {
    isWatch: queryBoolean(query, 'watch'),
    allowBookmarks: queryBoolean(query, 'allowWatchBookmarks'),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: queryInteger(query, 'timeoutSeconds'),
    limit: queryInteger(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
    sendInitialEvents: query.has('sendInitialEvents') ? queryBoolean(query, 'sendInitialEvents') : undefined,
  };
}

export function parseListOptions(query: URLSearchParams, scope: SelectorScope): ListOptions {
  const options = parseListQuery(query, scope);
  checkListVersion(options);
  return options;
}

/** Upstream looks at the version only when it reads. Beside a continue token, the token is looked at first. */
export function checkListVersion(options: ListOptions): void {
  const problem = options.continue ? undefined : resourceVersionProblem(options.resourceVersion ?? '');
  if (problem !== undefined) throw badRequest(`invalid resource version: ${problem}`);
}

/** The same without a look at the version. */
export function parseListQuery(query: URLSearchParams, scope: SelectorScope): ListOptions {
  const asked = parseCollectionQuery(query);
  const selection = selectionOf(query, scope, () => validateCollectionQuery(asked));
  return {
    selection,
    limit: Math.max(0, asked.limit),
    continue: asked.continue,
    resourceVersion: asked.resourceVersion,
    resourceVersionMatch: asked.resourceVersionMatch as ListOptions['resourceVersionMatch'],
  };
}

export interface WatchRequestOptions extends WatchOptions {
  /** 0: the server decides. */
  timeoutSeconds: number;
}

export function parseWatchOptions(query: URLSearchParams, scope: SelectorScope): WatchRequestOptions {
  const hasWatchList = scope.target.environment.hasWatchList ?? true;
  const parsed = parseCollectionQuery(query);
  const asked = hasWatchList ? withInitialEventsDefault(parsed) : parsed;
  const selection = selectionOf(query, scope, () => validateCollectionQuery(asked, hasWatchList));
  const problem = resourceVersionProblem(asked.resourceVersion);
  // Upstream lets this one escape without a reason or a code of its own.
  if (problem !== undefined) throw unknownError(problem);
  return {
    selection,
    resourceVersion: asked.resourceVersion,
    resourceVersionMatch: asked.resourceVersionMatch as WatchOptions['resourceVersionMatch'],
    allowBookmarks: asked.allowBookmarks,
    sendInitialEvents: asked.sendInitialEvents,
    timeoutSeconds: asked.timeoutSeconds ?? 0,
  };
}

/** Watches from nowhere begin with the present state (internalversion.SetListOptionsDefaults, KEP-3157). */
function withInitialEventsDefault(asked: CollectionQuery): CollectionQuery {
  const isFromNowhere = asked.resourceVersion === '' || asked.resourceVersion === '0';
  if (!asked.isWatch || !isFromNowhere || asked.sendInitialEvents !== undefined || asked.resourceVersionMatch !== '') return asked;
  return { ...asked, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
}

function validateCollectionQuery(asked: CollectionQuery, hasWatchList = true): void {
  const errors = new FieldErrors();
  if (asked.isWatch) validateWatchQuery(asked, errors, hasWatchList);
  else validateListQuery(asked, errors);
  if (!errors.isEmpty) throw invalidOptions('ListOptions', errors);
}

function validateListQuery(asked: CollectionQuery, errors: FieldErrors): void {
  const match = asked.resourceVersionMatch;
  const at = errors.at('resourceVersionMatch');
  if (match !== '') {
    if (asked.resourceVersion === '') at.forbidden('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (asked.continue !== '') at.forbidden('resourceVersionMatch is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan') at.notSupported(match, ['Exact', 'NotOlderThan', '']);
    if (match === 'Exact' && asked.resourceVersion === '0') at.forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (asked.sendInitialEvents !== undefined) errors.at('sendInitialEvents').forbidden('sendInitialEvents is forbidden for list');
}

function validateWatchQuery(asked: CollectionQuery, errors: FieldErrors, hasWatchList: boolean): void {
  const match = asked.resourceVersionMatch;
  const at = errors.at('resourceVersionMatch');
  if (asked.sendInitialEvents !== undefined && match !== 'NotOlderThan')
    at.forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  if (asked.sendInitialEvents !== undefined && !hasWatchList)
    errors.at('sendInitialEvents').forbidden('sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled');
  if (match === '') return;
  if (asked.sendInitialEvents === undefined) at.forbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  if (match !== 'NotOlderThan') at.notSupported(match, ['NotOlderThan']);
  if (asked.continue !== '') at.forbidden('resourceVersionMatch is forbidden when continue is provided');
}

const UINT64_MAX = 2n ** 64n - 1n;

/** What is wrong with a resourceVersion, as upstream's versioner says it. */
function resourceVersionProblem(text: string): string | undefined {
  if (text === '') return undefined;
  const problem = !/^[0-9]+$/.test(text) ? 'invalid syntax' : text.length > 20 || BigInt(text) > UINT64_MAX ? 'value out of range' : undefined;
  return problem && `resourceVersion: Invalid value: ${quote(text)}: strconv.ParseUint: parsing ${quote(text)}: ${problem}`;
}

/** How much of each object a Table carries beside its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export function parseTableOptions(query: URLSearchParams): IncludeObject {
  const includeObject = query.get('includeObject') ?? '';
  if (includeObject === '' || includeObject === 'Metadata') return 'Metadata';
  if (includeObject === 'None' || includeObject === 'Object') return includeObject;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(includeObject)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}
