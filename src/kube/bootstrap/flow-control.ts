import type { Client, ResourceClient } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { isApiError } from '../../api/errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import flowSchemas from './data/flow-schemas.json' with { type: 'json' };
import priorityLevels from './data/priority-levels.json' with { type: 'json' };
import { type BootstrapControllerOptions, createIfMissing, goOnDoing, syncedResource, typed, untilDone } from './keeping.ts';

export const FLOW_CONTROL_GROUP = 'flowcontrol.apiserver.k8s.io';

const API_VERSION = `${FLOW_CONTROL_GROUP}/v1`;
const AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec';
const INTERVAL_MS = 60_000;
const RETRY_LIMIT_MS = 5 * 60_000;
const FIELD_MANAGER = 'api-priority-and-fairness-config-producer-v1';
/** Kept as they are in spite of their annotation; all others are suggestions. */
const MANDATORY = new Set(['exempt', 'catch-all']);

interface FlowControlObject extends ApiObject {
  spec: { exempt?: { nominalConcurrencyShares?: number; lendablePercent?: number } };
}

interface FlowControlOptions extends BootstrapControllerOptions {
  /** Whether a server before this one has made them. */
  isContinued?: boolean;
}

/** The default FlowSchemas and PriorityLevelConfigurations (pkg/registry/flowcontrol/ensurer). */
export async function keepFlowControlDefaults(client: Client, options: FlowControlOptions): Promise<void> {
  const wantedLevels = typed<FlowControlObject>('PriorityLevelConfiguration', API_VERSION, priorityLevels);
  const wantedSchemas = typed<FlowControlObject>('FlowSchema', API_VERSION, flowSchemas);
  const ensureAll = async (): Promise<void> => {
    const levels = await syncedResource<FlowControlObject>(client, FLOW_CONTROL_GROUP, 'prioritylevelconfigurations', FIELD_MANAGER);
    const schemas = await syncedResource<FlowControlObject>(client, FLOW_CONTROL_GROUP, 'flowschemas', FIELD_MANAGER);
    await Promise.all([...wantedLevels.map((level) => ensure(levels, level)), ...wantedSchemas.map((schema) => ensure(schemas, schema))]);
    await Promise.all([removeUnwanted(schemas, wantedSchemas), removeUnwanted(levels, wantedLevels)]);
  };
  if (!options.isContinued) await untilDone(ensureAll, options, RETRY_LIMIT_MS);
  goOnDoing(ensureAll, INTERVAL_MS, options);
}

async function ensure(resource: ResourceClient<FlowControlObject>, wanted: FlowControlObject): Promise<void> {
  const name = wanted.metadata.name!;
  await createIfMissing(resource, wanted);
  const current = resource.informer.get('', name);
  if (current === undefined || !needsRevision(current, wanted)) return;
  await resource.update('', name, (object) => revise(object, wanted));
}

const needsRevision = (current: FlowControlObject, wanted: FlowControlObject): boolean => {
  const isAutoUpdated = shouldUpdateSpec(current);
  return autoUpdateOf(current) !== isAutoUpdated || (isAutoUpdated && !isSpecEquivalent(wanted, current));
};

function revise(object: FlowControlObject, wanted: FlowControlObject): boolean {
  if (!needsRevision(object, wanted)) return false;
  const isAutoUpdated = shouldUpdateSpec(object);
  if (isAutoUpdated && !isSpecEquivalent(wanted, object)) object.spec = structuredClone(wanted.spec);
  object.metadata.annotations = { ...object.metadata.annotations, [AUTO_UPDATE]: String(isAutoUpdated) };
  return true;
}

/** Where the annotation says nothing, a spec that was never changed may be. */
function shouldUpdateSpec(object: FlowControlObject): boolean {
  return MANDATORY.has(object.metadata.name!) || (autoUpdateOf(object) ?? object.metadata.generation === 1);
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** The annotation as Go's strconv.ParseBool reads it; undefined where it says nothing. */
function autoUpdateOf({ metadata }: ApiObject): boolean | undefined {
  const value = metadata.annotations?.[AUTO_UPDATE] ?? '';
  return TRUE.has(value) ? true : FALSE.has(value) ? false : undefined;
}

/** The two numbers of the exempt level are the operator's to choose. */
function isSpecEquivalent(wanted: FlowControlObject, actual: FlowControlObject): boolean {
  if (wanted.spec.exempt === undefined) return equalJson(wanted.spec, actual.spec);
  const { nominalConcurrencyShares, lendablePercent } = actual.spec.exempt ?? {};
  return (
    actual.spec.exempt !== undefined && equalJson({ ...wanted.spec, exempt: { ...wanted.spec.exempt, nominalConcurrencyShares, lendablePercent } }, actual.spec)
  );
}

/** What an older version made and this one does not, unless someone took it over. */
async function removeUnwanted(resource: ResourceClient<FlowControlObject>, wanted: readonly FlowControlObject[]): Promise<void> {
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const unwanted = resource.informer.list('').filter((object) => !names.has(object.metadata.name) && autoUpdateOf(object) === true);
  await Promise.all(unwanted.map(({ metadata }) => ignoringNotFound(resource.delete('', metadata.name!))));
}

async function ignoringNotFound(deleted: Promise<void>): Promise<void> {
  try {
    await deleted;
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}
