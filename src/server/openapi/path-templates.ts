import type { InstalledResource } from '../../registry/api-version.ts';
import type { Subresource } from '../../registry/definition.ts';
import type { CustomType, ObjectSchema } from '../../schema/schema.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { listSchemaOf } from './custom-list.ts';
import { type DocumentPart, encodedTogether } from './document-text.ts';
import { articleOf } from './operation-description.ts';
import { groupVersionWords } from './operation-id.ts';
import { ResourceRoutes } from './resource-routes.ts';
import { type OpenApiTypes, type Route, rootPathOf } from './routes.ts';

/*
 * The operations of most resources are those of any other with the same verbs, scope and subresources, under other names; of a custom resource they are nine
 * tenths of the text that it adds to a document. So they are written once for names that stand for others, and the names of each resource are put in their
 * places.
 */

/** Names that stand for others: letters, so that they stay as they are in operation ids, and none that a description has. */
const GROUP = 'zqgroupqz';
const VERSION = 'zqversionqz';
const PLURAL = 'zqpluralqz';
const LIST_KIND = 'Zqlistqz';
const TYPE_PREFIX = 'zqtypeqz';
/** By article: kinds are spoken of as `a Pod`, `an Ingress` and `Endpoints`. */
const KINDS = { a: 'Zqkindqz', an: 'Aqkindqz', none: 'Zqkindqzs' } as const;
/** Derived from group and version, so they come before them. */
const ROOT = rootPathOf(GROUP, VERSION);
const TAG = groupVersionWords(ROOT).tag;
const OPERATION = groupVersionWords(ROOT).operation;

const PLACES = new RegExp(`(${[ROOT, TAG, OPERATION, GROUP, VERSION, PLURAL, LIST_KIND, TYPE_PREFIX, KINDS.none, KINDS.a, KINDS.an].join('|')})`);

/** Other kinds are changed where they become part of an operation's id. */
const PLAIN_KIND = /^[A-Z][A-Za-z0-9]*$/;

/** Text in which every second piece stands for something else. */
type Template = readonly string[];

interface PartTemplate {
  paths: readonly (readonly [name: Template, json: Template])[];
  parameters: DocumentPart['parameters'];
  outside: DocumentPart['outside'];
}

/** The operations of resources, one template for all of a shape. */
export class PathTemplates {
  readonly #types: OpenApiTypes;
  readonly #byShape = new Map<string, PartTemplate>();

  constructor(types: OpenApiTypes) {
    this.#types = types;
  }

  /** The paths of a resource, and all that they refer to but the resource's own types; undefined for one whose text must be made for it alone. */
  *pathsOf(
    resource: InstalledResource,
    make: (routes: readonly Route[]) => SlicedWork<DocumentPart>,
  ): SlicedWork<Omit<DocumentPart, 'definitions'> | undefined> {
    const { served, definition } = resource;
    const typePrefix = served.schema.name.slice(0, -served.kind.length - 1);
    const isPlain = PLAIN_KIND.test(served.kind) && served.schema.name === `${typePrefix}.${served.kind}`;
    if (!isPlain || !(resource.isCustom ? isCustomOfOneType(resource) : isBuiltInOfOneType(resource))) return undefined;
    const shape = shapeOf(resource);
    let template = this.#byShape.get(shape);
    if (template === undefined) {
      const standIn = standInOf(resource);
      template = templateOf(yield* make(new ResourceRoutes(standIn.served, standIn, this.#standInTypes(standIn)).all()));
      this.#byShape.set(shape, template);
    }
    const root = rootPathOf(served.group, served.version);
    const words = groupVersionWords(root);
    const names = new Map([
      [ROOT, root],
      [TAG, words.tag],
      [OPERATION, words.operation],
      [GROUP, served.group],
      [VERSION, served.version],
      [PLURAL, definition.plural],
      [LIST_KIND, served.listKind ?? `${served.kind}List`],
      [TYPE_PREFIX, typePrefix],
      ...Object.values(KINDS).map((kind) => [kind, served.kind] as const),
    ]);
    const { paths, parameters, outside } = template;
    const entries = paths.map(([name, json]) => [filled(name, names), filled(json, names)] as const);
    return { paths: encodedTogether(entries), parameters, outside };
  }

  /** The types that such a resource defines. */
  typesOf({ served, definition, isCustom }: InstalledResource): ObjectSchema[] {
    if (isCustom) return [served.schema, listSchemaOf(served, definition.plural, this.#types)];
    if (!definition.verbs.includes('list')) return [served.schema];
    return [served.schema, this.#types.schemaOfKind(served.group, served.version, `${served.kind}List`)];
  }

  /** Those that operations of a stand-in may ask for: its list is in no table. */
  #standInTypes({ served, definition }: InstalledResource): OpenApiTypes {
    const types = this.#types;
    const schemaOfKind: OpenApiTypes['schemaOfKind'] = (group, version, kind) =>
      group === GROUP ? listSchemaOf(served, definition.plural, types) : types.schemaOfKind(group, version, kind);
    return { schemaOf: types.schemaOf, schemaOfKind };
  }
}

const isCustomOfOneType = ({ subresources, served }: InstalledResource): boolean =>
  Object.values(subresources).every(({ schema }) => schema.custom === undefined || schema.name === served.schema.name);

/** Others have options of their own, or operations unlike all others'. Of the group of APIServices kinds are written in another order. */
const isBuiltInOfOneType = ({ subresources, served }: InstalledResource): boolean =>
  served.group !== 'apiregistration.k8s.io' &&
  Object.entries(subresources).every(([name, { schema }]) => name === 'scale' || (name === 'status' && schema === served.schema));

function standInOf({ definition, served, subresources, ...rest }: InstalledResource): InstalledResource {
  const kind = KINDS[articleOf(served.kind)];
  const schema = standInFor(served.schema, `${TYPE_PREFIX}.${kind}`);
  const ownNames = ([name, subresource]: [string, Subresource]): [string, Subresource] => [
    name,
    isOwnType(subresource.schema, served.schema) ? { ...subresource, group: GROUP, version: VERSION, kind, schema } : subresource,
  ];
  const { namespaced, verbs, deletion } = definition;
  return {
    ...rest,
    // Operations need no more of it.
    definition: { plural: PLURAL, namespaced, verbs, ...(deletion && { deletion }) } as InstalledResource['definition'],
    served: { ...served, group: GROUP, version: VERSION, kind, listKind: LIST_KIND, schema },
    subresources: Object.fromEntries(Object.entries(subresources).map(ownNames)),
  };
}

/** A custom type of that name, whatever the resource's own is: operations refer to it, and do not define it. */
function standInFor(schema: ObjectSchema, name: string): ObjectSchema {
  const metadata = schema.custom?.metadata ?? schema.fields.get('metadata')!;
  return { type: 'object', name, kinds: [], fields: new Map(), custom: { schema: {}, metadata } as CustomType };
}

const isOwnType = (schema: ObjectSchema, own: ObjectSchema): boolean => schema === own || schema.custom !== undefined;

/** All that operations depend on beside names. */
const shapeOf = ({ definition: { namespaced, verbs, deletion }, served, subresources, isCustom }: InstalledResource): string =>
  JSON.stringify([
    isCustom,
    articleOf(served.kind),
    namespaced,
    verbs,
    deletion?.returnsObject,
    Object.entries(subresources).map(([name, { kind, verbs: own, schema }]) => [
      name,
      kind.endsWith('Options'),
      own,
      isOwnType(schema, served.schema) ? '' : schema.name,
    ]),
  ]);

const templateOf = ({ paths, parameters, outside }: DocumentPart): PartTemplate => ({
  paths: paths.map(([name, json]) => [name.split(PLACES), json.toString().split(PLACES)]),
  parameters,
  outside,
});

function filled(template: Template, names: ReadonlyMap<string, string>): string {
  let text = '';
  for (let index = 0; index < template.length; index++) text += index % 2 === 0 ? template[index]! : names.get(template[index]!)!;
  return text;
}
